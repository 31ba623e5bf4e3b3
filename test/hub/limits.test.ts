// `server.limits` of a configuration: what one caller may have open at the same time.
import { describe, expect, onTestFinished, test } from "vitest"
import { WebSocket } from "ws"
import type { LimitsConfig } from "../../src/config/model.ts"
import { createClient, isCallError } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"

import { createHub, serveHub } from "../../src/node.ts"
import type { ServedHub } from "../../src/node.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import { rawRequest } from "../serve/mcp/support/clients.ts"
import { operation } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"
import { configOf } from "./plain.ts"

interface Opened {
  readonly served: ServedHub
  /** One client over a WebSocket, connected on first use. */
  readonly client: () => ReturnType<typeof createClient>
  readonly most: () => number
  release(): void
}

async function openHub(limits: LimitsConfig | undefined): Promise<Opened> {
  const hub = createHub(configOf([], { server: { port: 0, limits } }), { logger: silentLogger })
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let running = 0
  let most = 0
  hub.registry.registerAll([
    operation("own.wait", {
      handler: async () => {
        most = Math.max(most, ++running)
        await released
        running--
        return "done"
      },
    }),
    operation("own.ticks", {
      type: "subscription",
      handler: async function* () {
        yield 1
        await released
      },
    }),
  ])
  const served = await serveHub(hub)
  let opened: ReturnType<typeof createClient> | undefined
  const client = (): ReturnType<typeof createClient> =>
    (opened ??= createClient(createWebSocketTransport(served.wsUrl ?? "")))
  onTestFinished(async () => {
    release()
    await opened?.close()
    await served.close()
    await hub.close()
  })
  return { served, client, most: () => most, release }
}

const BODY = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }

/** How a caller opens one more of something; it stays open. Resolves to "ok", or to how it was refused. */
const WAYS: Readonly<Record<string, (opened: Opened) => Promise<string>>> = {
  "sseStreams, from the gateway": ({ served }) => streamStatus(served, "/operations/own.ticks"),
  "sseStreams, over REST": ({ served }) => streamStatus(served, "/api/own/ticks"),
  "streams, over a WebSocket": async ({ client }) => {
    const stream = client().subscribe("own.ticks", {})
    onTestFinished(async () => void (await stream.return()))
    try {
      await stream.next()
      return "ok"
    } catch (error) {
      return isCallError(error) ? error.code : String(error)
    }
  },
  sockets: async ({ served }) => {
    const socket = new WebSocket(served.wsUrl ?? "")
    onTestFinished(() => socket.terminate())
    return await new Promise((resolve) => {
      socket.on("open", () => resolve("ok"))
      socket.on("unexpected-response", (_, { statusCode }) => resolve(String(statusCode)))
      socket.on("error", () => undefined)
    })
  },
}

async function streamStatus({ url }: ServedHub, path: string): Promise<string> {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const headers = { ...BODY.headers, accept: "text/event-stream" }
  const response = await fetch(url + path, { ...BODY, headers, signal: leaving.signal })
  return response.ok ? "ok" : String(response.status)
}

/** What a caller may have open of each kind by default. */
const DEFAULTS = { sseStreams: 20, streams: 100, sockets: 50 }

describe.each(Object.entries(WAYS))("server.limits: %s", (title, openOne) => {
  const name = title.split(",")[0] as keyof typeof DEFAULTS

  test.each([2, DEFAULTS[name] + 5])(
    "a limit of %i admits as many, and refuses the next one",
    async (limit) => {
      const opened = await openHub({ [name]: limit })
      const outcomes: string[] = []
      for (let count = 0; count < limit; count++) outcomes.push(await openOne(opened))

      expect(outcomes.filter((outcome) => outcome !== "ok")).toEqual([])
      expect(await openOne(opened)).toMatch(/^(?:429|OVERLOADED)$/)
    },
  )
})

/** How many of so many calls are admitted at once; the others are refused or wait. */
const CALLS: Readonly<Record<string, (opened: Opened) => Promise<unknown>>> = {
  "the gateway": ({ served }) => fetch(`${served.url}/operations/own.wait`, BODY),
  REST: ({ served }) => fetch(`${served.url}/api/own/wait`, BODY),
  MCP: ({ served }) =>
    fetch(
      served.mcpUrl ?? "",
      rawRequest("tools/call", { params: { name: "own_wait", arguments: {} } }),
    ),
  "a WebSocket": ({ client }) => client().call("own.wait", {}),
}

describe("server.limits: calls", () => {
  test.each(
    Object.entries(CALLS).flatMap(([way, call]) => [2, 120].map((limit) => ({ way, call, limit }))),
  )("over $way, $limit of $limit + 30 run at once", async ({ call, limit }) => {
    const opened = await openHub({ calls: limit })
    const calls = Array.from({ length: limit + 30 }, () => call(opened))
    await waitFor(() => expect(opened.most()).toBe(limit))

    opened.release()
    await Promise.all(calls)

    expect(opened.most()).toBe(limit)
  })
})
