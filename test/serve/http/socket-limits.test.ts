import { describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import { CallError, createClient, defineOperation, isCallError } from "../../../src/index.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"
import { readBearerToken } from "../../../src/to-http.ts"
import type { Authenticate } from "../../../src/to-http.ts"
import { createWebSocketTransport } from "../../../src/websocket.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"
import { base, deferred, post, upgradeStatus, useServers } from "./support.ts"
import { waitFor } from "../../support/wait-for.ts"

const { start, open, cleanups } = useServers()

const authenticate: Authenticate = (request) => {
  const id = readBearerToken(request)
  return id === undefined || id.startsWith("wrong") ? undefined : { id, scopes: [] }
}
const rateLimit = { perSecond: 1, burst: 5 }

function connect(url: string, token?: string): ReturnType<typeof createClient> {
  const client = createClient(createWebSocketTransport(url, { token }))
  cleanups.push(() => client.close())
  return client
}

/** The code of a failure, and when to try again; what came, if something came. */
async function outcome(call: Promise<{ readonly data: unknown }>): Promise<unknown> {
  try {
    return (await call).data
  } catch (error) {
    if (!isCallError(error)) throw error
    return [error.code, error.retryAfterMs]
  }
}

describe("calls at once on one socket (SV21)", () => {
  test.each([
    [1000, 0],
    [1500, 400],
  ])("of %i, 100 run, 1,000 wait, and %i are refused", async (count, refused) => {
    const gate = deferred()
    let running = 0
    let most = 0
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
    ]) as unknown as AnyRegistry
    const api = await open(registry)
    const client = connect(`${api.url.replace("http", "ws")}/ws`)
    const outcomes: unknown[] = []
    const calls = Array.from({ length: count }, async (_, at) => {
      outcomes[at] = await outcome(client.call("demo.wait", at))
    })
    const isRefused = (value: unknown): boolean => Array.isArray(value)
    await waitFor(() =>
      expect([running, outcomes.filter(isRefused).length]).toEqual([100, refused]),
    )
    gate.resolve()
    await Promise.all(calls)
    expect(most).toBe(100)
    for (const [at, got] of outcomes.entries()) {
      expect(got).toEqual(at < 1100 ? at : ["OVERLOADED", 1000])
    }
  })
})

describe("the rate of calls over a WebSocket", () => {
  test("is that of requests: one purse for both", async () => {
    const clock = new VirtualClock()
    const { ws, url } = await start({ clock, authenticate, rateLimit })
    const ada = connect(ws, "ada")
    const again = connect(ws, "ada")
    const ask = (): Promise<Response> =>
      post(`${url}/api/demo/echo`, 1, { headers: { authorization: "Bearer ada" } })
    expect((await ask()).status).toBe(200)
    expect((await ask()).status).toBe(200)
    expect(await outcome(ada.call("demo.echo", 1))).toBe(1)
    // Another connection is no other caller.
    expect(await outcome(again.call("demo.echo", 2))).toBe(2)
    expect(await outcome(ada.call("demo.echo", 3))).toBe(3)
    expect(await outcome(ada.call("demo.echo", 4))).toEqual(["RATE_LIMITED", 1000])
    expect(await outcome(again.call("demo.nothing"))).toEqual(["RATE_LIMITED", 1000])
    const answer = await ask()
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "1"])
    expect(await outcome(connect(ws, "bob").call("demo.echo", 5))).toBe(5)
    await clock.advance(1000)
    expect(await outcome(ada.call("demo.echo", 6))).toBe(6)
    expect(await outcome(ada.call("demo.echo", 7))).toEqual(["RATE_LIMITED", 1000])
  })

  test("counts streams as one each, and what runs goes on", async () => {
    const clock = new VirtualClock()
    const { ws } = await start({ clock, authenticate, rateLimit: { perSecond: 1, burst: 1 } })
    const ada = connect(ws, "ada")
    const items: unknown[] = []
    for await (const { data } of ada.subscribe("demo.count", { to: 20 })) items.push(data)
    expect(items).toHaveLength(20)
    const next = ada.subscribe("demo.count", { to: 1 })[Symbol.asyncIterator]().next()
    await expect(next).rejects.toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 1000 })
  })

  test("the account of an anonymous socket is that of its address", async () => {
    const { ws, url } = await start({ clock: new VirtualClock(), rateLimit })
    for (let at = 0; at < 5; at++) {
      expect(await outcome(connect(ws).call("demo.echo", at))).toBe(at)
    }
    expect(await outcome(connect(ws).call("demo.echo"))).toEqual(["RATE_LIMITED", 1000])
    expect((await fetch(`${url}/operations`)).status).toBe(429)
  })

  test("the account of a call is that of its claimed identity", async () => {
    const { ws } = await start({
      authenticate,
      rateLimit: { perSecond: 0.001, burst: 5 },
      websocket: {
        resolveIdentity: async ({ metadata }) => ({ id: String(metadata?.["as"]), scopes: [] }),
      },
    })
    const client = connect(ws, "proxy")
    const as = (name: string): Promise<unknown> =>
      outcome(client.call("demo.echo", name, { metadata: { as: name } }))
    for (let at = 0; at < 5; at++) expect(await as("ann")).toBe("ann")
    expect(await as("ann")).toEqual(["RATE_LIMITED", expect.any(Number)])
    expect(await as("ben")).toBe("ben")
  })

  test("of one that is trusted counts for whom it names", async () => {
    const websocket = { isTrusted: true }
    const { ws } = await start({ clock: new VirtualClock(), authenticate, rateLimit, websocket })
    const client = connect(ws, "proxy")
    const as = (id: string): Promise<unknown> =>
      outcome(client.call("demo.echo", id, { identity: { id, scopes: [] } }))
    for (let at = 0; at < 5; at++) expect(await as("ann")).toBe("ann")
    expect(await as("ann")).toEqual(["RATE_LIMITED", 1000])
    expect(await as("ben")).toBe("ben")
    expect(await outcome(client.call("demo.echo", 0))).toBe(0)
  })
})

describe("upgrades", () => {
  test("guessing credentials is slowed down, together with requests", async () => {
    const { ws, url } = await start({ clock: new VirtualClock(), authenticate, rateLimit })
    const guess = (at: number): { authorization: string } => ({
      authorization: `Bearer wrong-${at}`,
    })
    const statuses: unknown[] = []
    for (let at = 0; at < 4; at++) statuses.push(await upgradeStatus(ws, guess(at)))
    statuses.push((await fetch(`${url}/operations`, { headers: guess(4) })).status)
    statuses.push(await upgradeStatus(ws, guess(5)))
    statuses.push((await fetch(`${url}/operations`, { headers: guess(6) })).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
    // Those who share the address and know who they are get in.
    expect(await upgradeStatus(ws, { authorization: "Bearer ada" })).toBe(101)
  })

  test("sockets are refused with a retry delay during an outage of authentication", async () => {
    const outage: Authenticate = () => {
      throw new CallError("UNAVAILABLE", "no keys: canary", { retryAfterMs: 2500 })
    }
    const { ws } = await start({ authenticate: outage })
    const socket = new WebSocket(ws)
    socket.on("error", () => undefined)
    const answer = await new Promise<string>((resolve) => {
      socket.on("unexpected-response", (_, response) => {
        let text = `${response.statusCode} ${response.headers["retry-after"]} `
        response.on("data", (chunk) => (text += String(chunk)))
        response.on("end", () => resolve(text))
      })
    })
    expect(answer).toMatch(/^503 3 /)
    expect(answer).not.toContain("canary")
  })
})
