import { Agent, createServer, request } from "node:http"
import type { ClientRequest, IncomingMessage, Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Type } from "typebox"
import { afterEach, beforeEach, expect, test } from "vitest"
import { defineOperation } from "../../../src/core/define.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { serveHTTP } from "../../../src/node.ts"
import type { ServedHTTP } from "../../../src/node.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import { deferred, eventsOf } from "./support.ts"
import { waitFor } from "../../support/wait-for.ts"
import { isNightly } from "../../support/nightly.ts"

const base = {
  namespace: "load",
  version: "1.0.0",
  description: "Of a test",
  inputSchema: Type.Object({ at: Type.Integer() }),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
} as const

/** How many handlers run, and how many have been told that nobody waits any more. */
let running = 0
let aborted = 0
let open = deferred()

const registry = createRegistry(
  [
    defineOperation({ ...base, name: "double", type: "query", handler: ({ at }) => at * 2 }),
    defineOperation({
      ...base,
      name: "gate",
      type: "query",
      async handler({ at }) {
        running++
        await open.promise
        running--
        return at
      },
    }),
    defineOperation({
      ...base,
      name: "hang",
      type: "mutation",
      async handler(_, { signal }) {
        running++
        await gone(signal)
        running--
      },
    }),
    defineOperation({
      ...base,
      name: "items",
      type: "subscription",
      async *handler({ at }) {
        running++
        // Everybody is there before anybody goes on.
        await open.promise
        for (let item = 0; item < 50; item++) yield `${at}:${item}`
        running--
      },
    }),
    defineOperation({
      ...base,
      name: "endless",
      type: "subscription",
      async *handler(_, { signal }) {
        running++
        yield "first"
        await gone(signal)
        running--
      },
    }),
  ],
  { logger: silentLogger },
)

async function gone(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve())
  })
  aborted++
}

const warnings: string[] = []
const onWarning = ({ message }: Error): void => void warnings.push(message)

let server: Server
let api: ServedHTTP
let agent: Agent

beforeEach(async () => {
  running = aborted = 0
  open = deferred()
  warnings.length = 0
  process.on("warning", onWarning)
  server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const sse = { maxStreams: 200 }
  api = await serveHTTP(registry, { server, logger: silentLogger, sse, maxConcurrency: 100 })
  agent = new Agent({ keepAlive: true, maxSockets: 250 })
})

afterEach(async () => {
  open.resolve()
  agent.destroy()
  await api.close()
  server.closeAllConnections()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  process.off("warning", onWarning)
})

/** No handler, connection, slot or listener is left of whatever a test did. */
async function expectNothingLeft(): Promise<void> {
  await expectAllSlotsFree()
  agent.destroy()
  await waitFor(async () => expect([running, await connections()]).toEqual([0, 0]))
  await api.close()
  expect(server.listenerCount("request")).toBe(0)
  expect(server.listenerCount("upgrade")).toBe(0)
  expect(warnings).toEqual([])
}

function connections(): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })
}

interface Answered {
  readonly status: number
  readonly text: string
}

function begin(path: string, body: unknown, events = false): ClientRequest {
  const { port } = server.address() as AddressInfo
  const sent = request({
    port,
    host: "127.0.0.1",
    method: "POST",
    path,
    agent,
    headers: {
      "content-type": "application/json",
      ...(events && { accept: "text/event-stream" }),
    },
  })
  sent.end(JSON.stringify(body))
  return sent
}

function send(path: string, body: unknown, events = false): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent = begin(path, body, events)
    sent.on("error", reject)
    sent.on("response", (response: IncomingMessage) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => (text += chunk))
      response.on("error", reject)
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
  })
}

/** Every slot that one caller has is free: so many calls get in at once, and not one more. */
async function expectAllSlotsFree(): Promise<void> {
  open = deferred()
  const held = Array.from({ length: 100 }, (_, at) => send("/api/load/gate", { at }))
  await waitFor(() => expect(running).toBe(100))
  expect((await send("/api/load/gate", { at: 100 })).status).toBe(429)
  open.resolve()
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual(held.map(() => 200))
}

test("many requests, 100 at a time, are all answered, each with its own answer", async () => {
  let next = 0
  const wrong: string[] = []
  const work = async (): Promise<void> => {
    while (next < (isNightly ? 10_000 : 2_000)) {
      const at = next++
      const isRest = at % 2 === 0
      const path = isRest ? "/api/load/double" : "/operations/load.double"
      const { status, text } = await send(path, { at })
      const body = JSON.parse(text) as unknown
      const data = isRest ? body : (body as { data: unknown }).data
      if (status !== 200 || data !== at * 2) wrong.push(`${at}: ${status} ${text}`)
    }
  }
  await Promise.all(Array.from({ length: 100 }, work))
  expect(wrong).toEqual([])
  expect(await connections()).toBeLessThanOrEqual(100)
  await expectNothingLeft()
})

test("200 streams at the same time are all complete, and nobody gets what is another's", async () => {
  const streams = Array.from({ length: 200 }, (_, at) => send("/api/load/items", { at }, true))
  await waitFor(() => expect(running).toBe(200))
  expect((await send("/api/load/items", { at: 200 }, true)).status).toBe(429)
  open.resolve()
  for (const [at, { status, text }] of (await Promise.all(streams)).entries()) {
    expect(status).toBe(200)
    expect(eventsOf(text)).toEqual([
      ...Array.from({ length: 50 }, (_, item) => ({
        id: String(item + 1),
        data: `"${at}:${item}"`,
      })),
      { event: "end", data: "{}" },
    ])
  }
  await expectNothingLeft()
})

test("200 streams whose clients vanish end their handlers, and make room (SV24)", async () => {
  for (const round of [1, 2]) {
    const sent = Array.from({ length: 200 }, (_, at) => {
      const one = begin("/operations/load.endless", { at }, true)
      const first = new Promise<void>((resolve, reject) => {
        one.on("error", reject)
        one.on("response", (response) => {
          response.on("error", () => undefined)
          response.once("data", () => resolve())
        })
      })
      return { one, first }
    })
    await Promise.all(sent.map(({ first }) => first))
    expect(running).toBe(200)
    for (const { one } of sent) one.destroy()
    await waitFor(() => expect([running, aborted]).toEqual([0, 200 * round]))
  }
  await expectNothingLeft()
})

test("100 calls whose clients vanish end their handlers, and make room", async () => {
  const sent = Array.from({ length: 100 }, (_, at) => begin("/api/load/hang", { at }))
  for (const one of sent) one.on("error", () => undefined)
  await waitFor(() => expect(running).toBe(100))
  for (const one of sent) one.destroy()
  await waitFor(() => expect([running, aborted]).toEqual([0, 100]))
  await expectNothingLeft()
})
