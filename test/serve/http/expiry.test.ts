import { once } from "node:events"
import { SignJWT } from "jose"
import { describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import { defineOperation } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { Identity } from "../../../src/index.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"
import { whenExpired } from "../../../src/serve/expiry.ts"
import { readBearerToken, toHTTP } from "../../../src/to-http.ts"
import type { Authenticate, AuthOptions } from "../../../src/to-http.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"
import { base, demo, deferred, eventsOf, post, upgradeStatus, useServers } from "./support.ts"
import { waitFor } from "../../support/wait-for.ts"

const { start, open, cleanups } = useServers()

const ada = { id: "ada", scopes: [] }
const SECRET = "s".repeat(32)
const AUTH: AuthOptions = {
  jwt: { key: SECRET, issuer: "iss", audience: "aud", algorithms: ["HS256"] },
}

/** A token that is over at a time, in seconds. */
async function tokenUntil(exp: number): Promise<Readonly<Record<string, string>>> {
  const token = await new SignJWT({ sub: "ada", scope: "", iss: "iss", aud: "aud", exp })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(SECRET))
  return { authorization: `Bearer ${token}` }
}

interface Received {
  readonly type: string
  readonly requestId: string
  readonly [name: string]: unknown
}

/** A socket that keeps what it is told. */
async function dial(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{
  readonly socket: WebSocket
  readonly received: Received[]
  readonly over: Promise<readonly [code: number, reason: string]>
  readonly call: (requestId: string, operationId: string) => void
}> {
  const socket = new WebSocket(url, { headers })
  cleanups.push(() => socket.terminate())
  const received: Received[] = []
  socket.on("message", (data: Buffer) => {
    received.push(...([JSON.parse(String(data))] as Received[]).flat())
  })
  const over = new Promise<readonly [number, string]>((resolve) => {
    socket.on("close", (code, reason) => resolve([code, String(reason)]))
  })
  await once(socket, "open")
  const call = (requestId: string, operationId: string): void =>
    socket.send(JSON.stringify({ type: "call.requested", requestId, operationId }))
  return { socket, received, over, call }
}

describe("a WebSocket whose token expires (SV21)", () => {
  test("is closed with 4401, and what waits for an answer fails in order", async () => {
    const clock = new VirtualClock()
    const { ws, seen } = await start({ clock, auth: AUTH, websocket: { maxInFlight: 2 } })
    expect(await upgradeStatus(ws)).toBe(401)
    const { received, over, call } = await dial(ws, await tokenUntil(10))
    const ids = ["h1", "h2", "h3", "h4"]
    for (const id of ids) call(id, "demo.hang")
    call("s", "demo.idle")
    // Its first item: by then all of them have arrived.
    await waitFor(() => expect(received).toHaveLength(1))
    await clock.advance(9999)
    expect(seen.aborted).toBe(0)
    await clock.advance(1)
    expect(await over).toEqual([4401, "The credential has expired."])
    const errors = received.filter(({ type }) => type === "call.error")
    expect(errors.map(({ requestId }) => requestId)).toEqual([...ids, "s"])
    for (const { code, message } of errors) {
      expect(code).toBe("UNAUTHENTICATED")
      expect(message).toContain("has expired")
    }
    // What waited in line has not begun.
    expect(errors.map(({ mayHaveExecuted }) => mayHaveExecuted)).toEqual([
      true,
      true,
      false,
      false,
      true,
    ])
    await waitFor(() => expect(seen.aborted).toBe(3))
  })

  test("may come back for as long as clocks may differ, and no longer", async () => {
    const clock = new VirtualClock()
    const { ws } = await start({ clock, auth: AUTH })
    const headers = await tokenUntil(10)
    await clock.advance(12_000)
    const { over } = await dial(ws, headers)
    await clock.advance(2999)
    expect(await upgradeStatus(ws, headers)).toBe(101)
    await clock.advance(1)
    expect((await over)[0]).toBe(4401)
    expect(await upgradeStatus(ws, headers)).toBe(401)
  })

  test("of a client that reads nothing is cut all the same", async () => {
    const clock = new VirtualClock()
    const { ws } = await start({ clock, auth: AUTH })
    const { socket, over } = await dial(ws, await tokenUntil(10))
    socket.pause()
    await clock.advance(10_000)
    await clock.advance(1000)
    socket.resume()
    expect([1006, 4401]).toContain((await over)[0])
  })

  test("leaves no timer behind when its client was faster", async () => {
    const clock = new VirtualClock()
    const { ws } = await start({ clock, auth: AUTH, websocket: { pingInterval: 0 } })
    const before = clock.timers
    const { socket, over } = await dial(ws, await tokenUntil(10))
    await waitFor(() => expect(clock.timers).toBe(before + 1))
    socket.close()
    await over
    await waitFor(() => expect(clock.timers).toBe(before))
  })
})

describe("a stream of events whose token expires", () => {
  const headers = { accept: "text/event-stream" }

  test.each(["/operations/demo.idle", "/api/demo/idle"])("says so and ends: %s", async (path) => {
    const clock = new VirtualClock()
    const { url, seen } = await start({ clock, auth: AUTH })
    const token = await tokenUntil(10)
    const answer = await fetch(`${url}${path}`, { headers: { ...headers, ...token } })
    const text = answer.text()
    await seen.waiting.promise
    await clock.advance(9999)
    expect(seen.aborted).toBe(0)
    await clock.advance(1)
    const events = eventsOf(await text)
    expect(events).toHaveLength(2)
    expect(events[1]?.event).toBe("error")
    expect(JSON.parse(events[1]?.data ?? "")).toMatchObject({
      code: "UNAUTHENTICATED",
      status: 401,
      mayHaveExecuted: true,
      requestId: answer.headers.get("request-id"),
    })
    await seen.ended.promise
    expect(seen.aborted).toBe(1)
  })

  test("that ends before leaves no timer behind, and a call is not cut", async () => {
    const clock = new VirtualClock()
    const { url, seen } = await start({ clock, auth: AUTH })
    const before = clock.timers
    const token = await tokenUntil(10)
    const count = await post(`${url}/api/demo/count`, { to: 2 }, { headers: token })
    expect(eventsOf(await count.text())).toHaveLength(3)
    expect(clock.timers).toBe(before)
    const running = post(`${url}/api/demo/gate`, undefined, { headers: token })
    await seen.waiting.promise
    await clock.advance(30_000)
    seen.gate.resolve()
    expect((await running).status).toBe(200)
  })

  test("for web requests of those who know when", async () => {
    const clock = new VirtualClock()
    const { registry, seen } = demo()
    await using api = toHTTP(registry, { clock, logger: silentLogger })
    const request = (): Request => new Request("http://localhost/api/demo/idle", { headers })
    const ask = (expiresAt: number): Promise<Response> =>
      api.fetch(request(), { identity: { ...ada, expiresAt } })
    const answer = await ask(1000)
    const text = answer.text()
    await seen.waiting.promise
    await clock.advance(1000)
    expect(eventsOf(await text).at(-1)?.event).toBe("error")
    expect((await ask(1000)).status).toBe(401)
  })
})

describe("an identity with an end", () => {
  const who: { seen: (Identity | undefined)[] } = { seen: [] }
  const registry = createRegistry([
    defineOperation({
      ...base,
      name: "who",
      type: "query",
      handler: (_, { identity }) => {
        who.seen.push(identity)
        return identity
      },
    }),
  ]) as unknown as AnyRegistry

  test("is for handlers the identity alone", async () => {
    who.seen.length = 0
    const expiresAt = Date.now() + 60_000
    const api = await open(registry, { authenticate: () => ({ ...ada, expiresAt }) })
    expect(await (await post(`${api.url}/api/demo/who`)).json()).toEqual(ada)
    const { received, call } = await dial(`${api.url.replace("http", "ws")}/ws`)
    call("w", "demo.who")
    await waitFor(() => expect(received).toHaveLength(1))
    expect(who.seen).toEqual([ada, ada])
  })

  test("a past or invalid expiry is refused", async () => {
    const found = { ...ada, expiresAt: 0 as unknown }
    const authenticate = (() => ({ ...found })) as Authenticate
    const api = await open(registry, { authenticate })
    const ws = `${api.url.replace("http", "ws")}/ws`
    for (const expiresAt of [0, -1, Date.now() - 1, Number.NaN, "tomorrow", null, {}]) {
      found.expiresAt = expiresAt
      expect((await post(`${api.url}/api/demo/who`)).status).toBe(401)
      expect(await upgradeStatus(ws)).toBe(401)
    }
    for (const expiresAt of [Number.POSITIVE_INFINITY, Date.now() + 1e12, undefined]) {
      found.expiresAt = expiresAt
      expect((await post(`${api.url}/api/demo/who`)).status).toBe(200)
      expect(await upgradeStatus(ws)).toBe(101)
    }
  })

  test("that is far away does not end at once", async () => {
    const authenticate: Authenticate = (request) =>
      readBearerToken(request) === undefined ? undefined : { ...ada, expiresAt: Date.now() + 1e11 }
    const api = await open(registry, { authenticate })
    const ws = `${api.url.replace("http", "ws")}/ws`
    const { received, call } = await dial(ws, { authorization: "Bearer x" })
    call("w", "demo.who")
    await waitFor(() => expect(received).toHaveLength(1))
  })

  test("is waited for in steps that timers can take", async () => {
    const clock = new VirtualClock()
    const delays: number[] = []
    const over = deferred()
    const spying = {
      now: () => clock.now(),
      clearTimeout: (timer: unknown) => clock.clearTimeout(timer),
      setTimeout(callback: () => void, delay: number) {
        delays.push(delay)
        return clock.setTimeout(callback, delay)
      },
    }
    let isOver = false
    whenExpired(5e9, spying, () => {
      isOver = true
      over.resolve()
    })
    await clock.advance(5e9 - 1)
    expect(isOver).toBe(false)
    await clock.advance(1)
    await over.promise
    expect(delays).toHaveLength(3)
    expect(Math.max(...delays)).toBeLessThan(2 ** 31)
    whenExpired(6e9, spying, () => expect.unreachable())()
    await clock.advance(2e9)
  })
})
