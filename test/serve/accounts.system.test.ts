import { createServer, request as openRequest } from "node:http"
import { describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import { createClient, defineOperation, isCallError } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { systemClock } from "../../src/internal/clock.ts"
import { createRegistry } from "../../src/engine/registry.ts"
import type { AnyRegistry } from "../../src/engine/registry.ts"
import { Accounts } from "../../src/serve/accounts.ts"
import { Gate } from "../../src/serve/gate.ts"
import { readBearerToken } from "../../src/to-http.ts"
import type { Authenticate } from "../../src/to-http.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { createWebSocketTransport, serveWebSocket } from "../../src/websocket.ts"
import { waitFor } from "../support/wait-for.ts"
import { base, deferred, post, upgradeStatus, useServers } from "./http/support.ts"
import { initialize, legacyRequest, rawRequest } from "./mcp/support/clients.ts"
import { SURFACES } from "./surface-table.ts"
import { am, watch } from "./who/operations.ts"

const { open, cleanups } = useServers()

const authenticate: Authenticate = (request) => ({ id: readBearerToken(request) ?? "", scopes: [] })
const as = (id: string): { authorization: string } => ({ authorization: `Bearer ${id}` })
const socketsOf = (url: string): string => `${url.replace("http", "ws")}/ws`

function mcpOf(registry: AnyRegistry): ReturnType<typeof toMCP> {
  const server = toMCP(registry, { logger: silentLogger })
  cleanups.push(() => server.close())
  return server
}

function connect(url: string, token: string): ReturnType<typeof createClient> {
  const client = createClient(createWebSocketTransport(url, { token }))
  cleanups.push(() => client.close())
  return client
}

/** A registry with a query that waits and a stream that stays, and how many of each there are. */
function waiting(): {
  registry: AnyRegistry
  running: () => number
  streams: () => number
  most: () => number
  free: () => void
} {
  const gate = deferred()
  let [running, streams, most] = [0, 0, 0]
  const registry = createRegistry([
    defineOperation({
      ...base,
      name: "wait",
      type: "query",
      async handler(input) {
        most = Math.max(most, ++running)
        await gate.promise
        running--
        return input
      },
    }),
    defineOperation({
      ...base,
      name: "stay",
      type: "subscription",
      async *handler() {
        streams++
        yield 1
        await gate.promise
        streams--
      },
    }),
  ]) as unknown as AnyRegistry
  return {
    registry,
    running: () => running,
    streams: () => streams,
    most: () => most,
    free: gate.resolve,
  }
}

describe("one account per caller", () => {
  test.each(Object.keys(SURFACES))("what %s uses up is missing everywhere", async (surface) => {
    const registry = createRegistry([am, watch]) as unknown as AnyRegistry
    const { url } = await open(registry, {
      authenticate,
      rateLimit: { perSecond: 0.001, burst: 12 },
      mcp: mcpOf(registry),
    })
    const ask = async (name: string, id: string): Promise<unknown> =>
      await SURFACES[name]?.[1]({ url, fetch }, as(id))
    let passed = 0
    while ((await ask(surface, "ada")) === "ada") passed++
    expect(passed).toBeGreaterThan(0)
    expect(passed).toBeLessThanOrEqual(12)
    for (const other of Object.keys(SURFACES)) {
      expect([other, await ask(other, "ada")]).toEqual([other, 429])
    }
    expect(await ask(surface, "bob")).toBe("bob")
  })

  test("slots are those of requests, sockets, batches and MCP together", async () => {
    const { registry, running, most, free } = waiting()
    const { url } = await open(registry, {
      authenticate,
      maxConcurrency: 3,
      mcp: mcpOf(registry),
    })
    const headers = as("ada")
    const rest = post(`${url}/api/demo/wait`, 1, { headers })
    const socket = connect(socketsOf(url), "ada").call("demo.wait", 2)
    const params = { name: "demo_wait", arguments: {} }
    const tool = fetch(`${url}/mcp`, rawRequest("tools/call", { params, headers }))
    await waitFor(() => expect(running()).toBe(3))
    const call = { id: "demo.wait", input: 0 }
    expect((await post(`${url}/batch`, [call], { headers })).status).toBe(429)
    expect((await post(`${url}/operations/demo.wait`, 0, { headers })).status).toBe(429)
    const refused = await fetch(`${url}/mcp`, rawRequest("tools/call", { params, headers }))
    expect(refused.status).toBe(429)
    // Calls over sockets wait for a slot, whichever way it was used before.
    const others = [3, 4, 5].map((at) => connect(socketsOf(url), "ada").call("demo.wait", at))
    const ofBob = post(`${url}/api/demo/wait`, 6, { headers: as("bob") })
    await waitFor(() => expect(running()).toBe(4))
    free()
    expect((await rest).status).toBe(200)
    expect((await tool).status).toBe(200)
    expect((await ofBob).status).toBe(200)
    expect((await socket).data).toBe(2)
    expect((await Promise.all(others)).map(({ data }) => data)).toEqual([3, 4, 5])
    expect(most()).toBe(4)
  })

  test("a batch runs as many calls at once as its caller has slots", async () => {
    const { registry, running, most, free } = waiting()
    const { url } = await open(registry, { maxConcurrency: 5 })
    const batch = Array.from({ length: 20 }, (_, input) => ({ id: "demo.wait", input }))
    const single = post(`${url}/api/demo/wait`, 1)
    await waitFor(() => expect(running()).toBe(1))
    const whole = post(`${url}/batch`, batch)
    await waitFor(() => expect(running()).toBe(5))
    free()
    const { results } = (await (await whole).json()) as { results: { ok: boolean }[] }
    expect(results.filter(({ ok }) => ok)).toHaveLength(20)
    expect((await single).status).toBe(200)
    expect(most()).toBe(5)
    // All slots are free again.
    expect((await post(`${url}/batch`, batch)).status).toBe(200)
    expect((await post(`${url}/api/demo/wait`, 1)).status).toBe(200)
  })

  test.each(["serveHTTP", "serveWebSocket"])(
    "%s: ten sockets run no more than one",
    async (server) => {
      const { registry, running, streams, most, free } = waiting()
      let url: string
      const limits = { maxInFlight: 5, maxQueued: 40, maxStreams: 3 }
      if (server === "serveHTTP") {
        url = socketsOf((await open(registry, { authenticate, websocket: limits })).url)
      } else {
        const served = await serveWebSocket(registry, { port: 0, authenticate, ...limits })
        cleanups.push(() => served.close())
        url = served.url ?? ""
      }
      const clients = Array.from({ length: 10 }, () => connect(url, "ada"))
      const codes: unknown[] = []
      const calls = Array.from({ length: 50 }, async (_, at) => {
        try {
          return await clients[at % 10]?.call("demo.wait", at)
        } catch (error) {
          codes.push(isCallError(error) ? error.code : error)
          return undefined
        }
      })
      const opened = await Promise.allSettled(
        clients.map((client) => client.subscribe("demo.stay", 0)[Symbol.asyncIterator]().next()),
      )
      expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(3)
      await waitFor(() => expect([running(), codes.length]).toEqual([5, 5]))
      expect(codes).toEqual(Array.from({ length: 5 }, () => "OVERLOADED"))
      expect(streams()).toBe(3)
      free()
      const done = await Promise.all(calls)
      expect(done.filter((data) => data !== undefined)).toHaveLength(45)
      expect(most()).toBe(5)
    },
  )

  test("calls that wait give up their place when their socket closes", async () => {
    const { registry, running, free } = waiting()
    const { url } = await open(registry, { authenticate, maxConcurrency: 1 })
    const first = connect(socketsOf(url), "ada").call("demo.wait", 1)
    await waitFor(() => expect(running()).toBe(1))
    const leaving = createClient(createWebSocketTransport(socketsOf(url), { token: "ada" }))
    const lost = Promise.allSettled([leaving.call("demo.wait", 2), leaving.call("demo.wait", 3)])
    const staying = connect(socketsOf(url), "ada").call("demo.wait", 4)
    await leaving.close()
    await lost
    free()
    expect((await first).data).toBe(1)
    expect((await staying).data).toBe(4)
    expect((await post(`${url}/api/demo/wait`, 5, { headers: as("ada") })).status).toBe(200)
  })
})

describe("a body that is on its way", () => {
  const BODIES: Readonly<Record<string, readonly [path: string, body: string]>> = {
    REST: ["/api/demo/wait", "[1, 2]"],
    gateway: ["/operations/demo.wait", "[1, 2]"],
    batch: ["/batch", JSON.stringify([{ id: "demo.wait", input: 1 }])],
    MCP: ["/mcp", rawRequest("tools/call", { params: { name: "demo_wait", arguments: {} } }).body],
  }

  /** A request whose body comes when `finish` is called. */
  function slow(url: string, path: string, body: string) {
    const { headers } = rawRequest("tools/call", { params: { name: "demo_wait" } })
    const length = { "content-length": String(Buffer.byteLength(body)) }
    const sent = openRequest(`${url}${path}`, {
      method: "POST",
      headers: { ...headers, ...length },
    })
    cleanups.push(() => sent.destroy())
    const status = new Promise<number | undefined>((resolve, reject) => {
      sent.on("error", reject)
      sent.on("response", (response) => {
        response.resume()
        resolve(response.statusCode)
      })
    })
    status.catch(() => undefined)
    sent.write(body.slice(0, 1))
    return { status, finish: () => sent.end(body.slice(1)), leave: () => sent.destroy() }
  }

  test.each(Object.keys(BODIES))("holds no slot: %s", async (surface) => {
    const { registry, running, free } = waiting()
    const [path, body] = BODIES[surface] as readonly [string, string]
    const server = createServer()
    let received = 0
    server.on("request", () => received++)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    cleanups.push(() => server.close())
    const { url } = await open(registry, { server, maxConcurrency: 2, mcp: mcpOf(registry) })
    const pending = Array.from({ length: 6 }, () => slow(url, path, body))
    await waitFor(() => expect(received).toBe(6))
    const calls = [1, 2].map((at) => post(`${url}/api/demo/wait`, at))
    await waitFor(() => expect(running()).toBe(2))
    // It has arrived where all slots are taken.
    pending[0]?.finish()
    expect(await pending[0]?.status).toBe(429)
    pending[1]?.leave()
    free()
    for (const call of calls) expect((await call).status).toBe(200)
    for (const { status, finish } of pending.slice(2)) {
      finish()
      expect(await status).toBe(200)
    }
    expect((await post(`${url}/api/demo/wait`, 1)).status).toBe(200)
  })

  test("counts among those that a caller may send at once", async () => {
    const { registry, free } = waiting()
    free()
    const { url } = await open(registry, { maxConcurrency: 1 })
    const pending = Array.from({ length: 11 }, () => slow(url, "/api/demo/wait", "[1, 2]"))
    const statuses = pending.map(async ({ status }) => await status)
    expect(await Promise.race(statuses)).toBe(429)
    for (const { leave } of pending) leave()
    await waitFor(async () => expect((await post(`${url}/api/demo/wait`, 1)).status).toBe(200))
  })
})

describe("sockets", () => {
  test.each(["serveHTTP", "serveWebSocket"])("%s: a caller has 50 at most", async (server) => {
    const registry = createRegistry([am]) as unknown as AnyRegistry
    let url: string
    if (server === "serveHTTP") url = socketsOf((await open(registry, { authenticate })).url)
    else {
      const served = await serveWebSocket(registry, { port: 0, authenticate })
      cleanups.push(() => served.close())
      url = served.url ?? ""
    }
    const sockets = Array.from({ length: 50 }, () => new WebSocket(url, { headers: as("ada") }))
    cleanups.push(() => sockets.forEach((socket) => socket.terminate()))
    await Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.once("open", resolve))),
    )
    expect(await upgradeStatus(url, as("ada"))).toBe(429)
    expect(await upgradeStatus(url, as("bob"))).toBe(101)
    sockets.pop()?.terminate()
    await waitFor(async () => expect(await upgradeStatus(url, as("ada"))).toBe(101))
  })

  test("of all callers there are 10,000 at most", () => {
    const accounts = new Accounts({}, systemClock)
    const decide = (connections: number): unknown[] => {
      const gate = new Gate({}, systemClock, silentLogger, () => connections, accounts)
      let decided: unknown[] = []
      gate.verify({ req: { headers: { host: "localhost" } } }, (...all) => (decided = all))
      return decided
    }
    expect(decide(9999)).toEqual([true])
    expect(decide(10_000).slice(0, 2)).toEqual([false, 503])
  })
})

describe("MCP sessions", () => {
  const list = (url: string, session: string, id: string): Promise<Response> =>
    fetch(url, legacyRequest("tools/list", {}, { "Mcp-Session-Id": session, ...as(id) }))

  async function opened(url: string, id: string): Promise<string> {
    const response = await fetch(url, initialize(as(id)))
    await response.text()
    return response.headers.get("mcp-session-id") ?? String(response.status)
  }

  test.each(["mounted", "alone"])(
    "%s: past 32 an identity loses its own oldest one",
    async (way) => {
      const registry = createRegistry([am]) as unknown as AnyRegistry
      let url: string
      if (way === "mounted") {
        url = `${(await open(registry, { authenticate, mcp: mcpOf(registry) })).url}/mcp`
      } else {
        const server = toMCP(registry, { authenticate, logger: silentLogger })
        cleanups.push(() => server.close())
        ;({ url } = await server.listen({ port: 0 }))
      }
      const ofBob = await opened(url, "bob")
      const all: string[] = []
      for (let at = 0; at < 32; at++) all.push(await opened(url, "ada"))
      const statuses = async (): Promise<number[]> =>
        await Promise.all(all.slice(0, 3).map(async (one) => (await list(url, one, "ada")).status))
      expect(await statuses()).toEqual([200, 200, 200])
      // Those were just used: the next ones are the oldest.
      await Promise.all([opened(url, "ada"), opened(url, "ada")])
      expect((await list(url, all[3] as string, "ada")).status).toBe(404)
      expect((await list(url, all[4] as string, "ada")).status).toBe(404)
      expect((await list(url, all[5] as string, "ada")).status).toBe(200)
      for (let at = 0; at < 200; at++) await opened(url, "ada")
      expect((await list(url, ofBob, "bob")).status).toBe(200)
    },
  )

  test("where all places are taken, a caller's own session makes room first", async () => {
    const registry = createRegistry([am]) as unknown as AnyRegistry
    const server = toMCP(registry, { authenticate, sessions: { max: 3 }, logger: silentLogger })
    cleanups.push(() => server.close())
    const { url } = await server.listen({ port: 0 })
    const ofBob = await opened(url, "bob")
    const first = await opened(url, "ada")
    const second = await opened(url, "ada")
    await opened(url, "ada")
    expect((await list(url, first, "ada")).status).toBe(404)
    expect((await list(url, second, "ada")).status).toBe(200)
    expect((await list(url, ofBob, "bob")).status).toBe(200)
  })
})
