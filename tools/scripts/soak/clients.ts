import { once } from "node:events"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { WebSocket } from "ws"
import { createMCPClient } from "../../../src/from-mcp.ts"
import { PendingRequestMap } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { createNatsTransport } from "../../../src/nats.ts"
import { createRedisTransport } from "../../../src/redis.ts"
import type { Transport } from "../../../src/protocol/transport.ts"
import { createWebSocketTransport } from "../../../src/websocket.ts"

/** Where clients connect, and a signal that lives as long as the run. */
export interface Place {
  readonly url: string
  readonly buses: readonly { readonly name: "nats" | "redis"; readonly url: string }[]
  readonly signal: AbortSignal
}

/** Connects, calls, streams, aborts and leaves; resolves with how many calls were answered. */
export type Visit = (place: Place, n: number) => Promise<number>

const json = { "content-type": "application/json" }
const events = { accept: "text/event-stream" }
const quiet = { logger: silentLogger }
/** Milliseconds that a call may take. */
const TIMEOUT = 10_000

/** One visit per surface; a round runs each of them again and again. */
export const VISITS: Readonly<Record<string, Visit>> = {
  async REST({ url }, n) {
    const signal = AbortSignal.timeout(TIMEOUT)
    expectEcho(await send(`${url}/api/soak/echo?n=${n}`, { signal }), n)
    await send(`${url}/api/shop/products.list`, { signal })
    await abandoned((own) => send(`${url}/api/soak/wait`, { signal: own }))
    return 2
  },
  async gateway({ url }, n) {
    const post = (id: string, input: object, signal: AbortSignal): Promise<unknown> =>
      send(`${url}/operations/${id}`, {
        method: "POST",
        headers: json,
        body: JSON.stringify(input),
        signal,
      })
    expectEcho(dataOf(await post("soak.echo", { n }, AbortSignal.timeout(TIMEOUT))), n)
    await post("notes.find_notes", { word: "hours" }, AbortSignal.timeout(TIMEOUT))
    await abandoned((own) => post("soak.wait", {}, own))
    return 2
  },
  async batch({ url, buses }, n) {
    const calls = [
      { id: "soak.echo", input: { n } },
      { id: "notes.read_note", input: { id: 1 } },
      { id: "shop.products.list", input: {} },
      ...buses.map(({ name }) => ({ id: `${name}.who.answers`, input: {} })),
    ]
    const body = JSON.stringify(calls)
    const signal = AbortSignal.timeout(TIMEOUT)
    const answer = await send(`${url}/batch`, { method: "POST", headers: json, body, signal })
    const { results } = answer as { readonly results: readonly { readonly envelope?: unknown }[] }
    expectEcho(dataOf(results[0]?.envelope), n)
    return results.filter(({ envelope }) => envelope !== undefined).length
  },
  async SSE({ url, buses }, n) {
    const ids = ["soak.count", "market.prices", ...buses.map(({ name }) => `${name}.who.counts`)]
    const id = ids[n % ids.length] as string
    const leaving = new AbortController()
    const answer = await fetch(`${url}/operations/${id}`, {
      headers: events,
      signal: leaving.signal,
    })
    let items = 0
    try {
      for await (const _chunk of answer.body ?? []) if (++items === 5) break
    } finally {
      leaving.abort()
    }
    return items
  },
  async "SSE, lost"({ url }) {
    const { port, host } = new URL(url)
    const socket = connect(Number(port), "127.0.0.1")
    socket.on("error", () => undefined)
    socket.write(
      `GET /operations/soak.count HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n\r\n`,
    )
    await Promise.race([once(socket, "data"), once(socket, "close")])
    socket.resetAndDestroy()
    return 1
  },
  async WebSocket({ url, signal, buses }, n) {
    const map = mapOver(createWebSocketTransport(socketUrl(url), quiet))
    const further = buses.map(({ name }) => `${name}.who.answers`)
    return await useMap(map, signal, n, ["shop.products.list", ...further])
  },
  async "WebSocket, lost"({ url }) {
    const socket = new WebSocket(socketUrl(url))
    socket.on("error", () => undefined)
    socket.on("open", () => {
      for (const [requestId, operationId] of [
        ["1", "soak.count"],
        ["2", "soak.wait"],
      ]) {
        socket.send(JSON.stringify({ type: "call.requested", requestId, operationId, input: {} }))
      }
    })
    await Promise.race([once(socket, "message"), once(socket, "close")])
    socket.terminate()
    return 1
  },
  "MCP, sessions": (place, n) => useMCP(place, n, "legacy"),
  "MCP, single requests": (place, n) => useMCP(place, n, "modern"),
  async nats({ buses, signal }) {
    const bus = buses.find(({ name }) => name === "nats")
    if (bus === undefined) return 0
    return await useWorker(createNatsTransport({ servers: bus.url, ...quiet }), signal)
  },
  async redis({ buses, signal }) {
    const bus = buses.find(({ name }) => name === "redis")
    if (bus === undefined) return 0
    return await useWorker(createRedisTransport({ url: bus.url, ...quiet }), signal)
  },
}

async function useMCP(
  { url, signal }: Place,
  n: number,
  era: "legacy" | "modern",
): Promise<number> {
  const wrapper = await createMCPClient("hub", { url: `${url}/mcp`, era, ...quiet })
  try {
    const options = { signal, timeout: TIMEOUT }
    const { data } = await wrapper.client.callTool("soak_echo", { n }, options)
    expectEcho(data, n)
    await abandoned((own) => wrapper.client.callTool("soak_wait", {}, { signal: own }))
    await wrapper.client.callTool("notes_find_notes", {}, options)
    return 2
  } finally {
    await wrapper.close()
  }
}

async function useMap(
  map: PendingRequestMap,
  signal: AbortSignal,
  n: number,
  further: readonly string[],
): Promise<number> {
  try {
    const options = { signal, timeout: TIMEOUT }
    expectEcho((await map.call("soak.echo", { n }, options)).data, n)
    for (const id of further) await map.call(id, {}, options)
    await abandoned((own) => map.call("soak.wait", {}, { signal: own }))
    await readSome(map, "soak.count", signal)
    return 2 + further.length
  } finally {
    await map.close()
  }
}

async function useWorker(transport: Transport, signal: AbortSignal): Promise<number> {
  const map = mapOver(transport)
  try {
    await map.call("who.answers", {}, { signal, timeout: TIMEOUT })
    await readSome(map, "who.counts", signal)
    await abandoned((own) => map.call("who.answers", {}, { signal: own }))
    return 2
  } finally {
    await map.close()
  }
}

async function readSome(map: PendingRequestMap, id: string, signal: AbortSignal): Promise<void> {
  let items = 0
  for await (const _item of map.subscribe(id, {}, { signal, timeout: TIMEOUT })) {
    if (++items === 20) break
  }
}

function mapOver(transport: Transport): PendingRequestMap {
  return new PendingRequestMap(transport, quiet)
}

/** A call that its caller aborts; an answer that is faster is fine. */
async function abandoned(call: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const leaving = new AbortController()
  const done = call(leaving.signal).then(
    () => undefined,
    () => undefined,
  )
  await sleep(20)
  leaving.abort()
  await done
}

async function send(url: string, init: RequestInit): Promise<unknown> {
  const answer = await fetch(url, init)
  const text = await answer.text()
  if (answer.status !== 200) {
    throw Object.assign(new Error(text), { code: codeIn(text) ?? `HTTP ${answer.status}` })
  }
  return JSON.parse(text)
}

function codeIn(text: string): string | undefined {
  return /"code":"(\w+)"/.exec(text)?.[1]
}

function dataOf(answer: unknown): unknown {
  return (answer as { readonly data?: unknown } | undefined)?.data
}

function expectEcho(data: unknown, n: number): void {
  if ((data as { readonly n?: unknown } | undefined)?.n === n) return
  throw new WrongAnswer(`soak.echo({ n: ${n} }) returned ${JSON.stringify(data)}.`)
}

/** The response to another call, or none. A fault never causes this. */
export class WrongAnswer extends Error {}

function socketUrl(url: string): string {
  return `${url.replace("http", "ws")}/ws`
}
