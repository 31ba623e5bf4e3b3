import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { CallError } from "../../../src/core/errors.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { Accounts } from "../../../src/serve/accounts.ts"
import { callerAddress, canonicalAddress } from "../../../src/serve/caller-address.ts"
import { Guard } from "../../../src/serve/http/guard.ts"
import type { GuardOptions } from "../../../src/serve/http/guard.ts"
import type { Refused } from "../../../src/serve/exchange.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"
import { admitted, incoming, serveGuarded } from "./guarded.ts"

const ada = { id: "ada", scopes: [] }
const bob = { id: "bob", scopes: [] }

function guardWith(options: GuardOptions, clock = new VirtualClock()): Guard {
  return new Guard(options, clock, silentLogger)
}

describe("rate", () => {
  test("1,000 requests by one caller are cut down; others do not notice (SV27)", async () => {
    const clock = new VirtualClock()
    const guard = guardWith({ rateLimit: { perSecond: 10, burst: 20 } }, clock)
    const refused: Refused[] = []
    for (let i = 0; i < 1000; i++) {
      const admission = await guard.admit(incoming({}, { identity: ada }))
      if (admission.kind === "admitted") admission.release()
      if (admission.kind === "refused") refused.push(admission)
    }
    expect(refused).toHaveLength(980)
    for (const { status, headers, error } of refused) {
      expect([status, headers["retry-after"]]).toEqual([429, "1"])
      expect(error).toMatchObject({ code: "RATE_LIMITED", retryable: true })
    }
    ;(await admitted(guard, incoming({}, { identity: bob }))).release()
    await clock.advance(100)
    ;(await admitted(guard, incoming({}, { identity: ada }))).release()
    expect(await guard.admit(incoming({}, { identity: ada }))).toMatchObject({ status: 429 })
  })

  test("a forged X-Forwarded-For does not create a new caller (SV27)", async () => {
    await using server = await serveGuarded(
      { rateLimit: { perSecond: 1, burst: 3 } },
      new VirtualClock(),
    )
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) {
      const headers = { "x-forwarded-for": `10.0.0.${i}`, forwarded: `for=10.0.0.${i}` }
      statuses.push((await server.send({ headers })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429])
  })

  test("a retry after what was said succeeds", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          perSecond: fc.double({ min: 0.1, max: 5000, noNaN: true }),
          burst: fc.integer({ min: 1, max: 50 }),
        }),
        async (rateLimit) => {
          const clock = new VirtualClock()
          const account = new Accounts({ rateLimit }, clock).named("x")
          for (let i = 0; i < rateLimit.burst; i++) expect(account.charge(1)).toBeUndefined()
          const error = account.charge(1)
          await clock.advance((error?.retryAfterMs ?? Number.NaN) + 1)
          expect(account.charge(1)).toBeUndefined()
        },
      ),
    )
  })

  test("never lets through more than burst and rate allow, whatever the clock does", () => {
    const steps = fc.array(fc.integer({ min: -1000, max: 1000 }), { maxLength: 200 })
    fc.assert(
      fc.property(steps, (moves) => {
        const clock = new VirtualClock()
        clock.time = 1_000_000
        const account = new Accounts({ rateLimit: { perSecond: 10, burst: 5 } }, clock).named("x")
        let forward = 0
        let passed = 0
        for (const move of moves) {
          clock.time += move
          forward += Math.max(0, move)
          if (account.charge(1) === undefined) passed++
        }
        expect(passed).toBeLessThanOrEqual(5 + forward / 100 + 1e-6)
      }),
    )
  })

  test("a batch that is larger than the burst can never pass, and is told so", async () => {
    const clock = new VirtualClock()
    const guard = guardWith({ rateLimit: { perSecond: 1, burst: 5 } }, clock)
    const tooLarge = { code: "PAYLOAD_TOO_LARGE", retryable: false, mayHaveExecuted: false }
    // The request itself has paid for the first of its calls.
    const admission = await admitted(guard, incoming({}, { identity: ada }))
    expect(admission.charge(5)).toMatchObject({ ...tooLarge, details: { burst: 5 } })
    expect(admission.charge(4)).toBeUndefined()
    expect(admission.charge(4)).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 4000 })
    admission.release()
  })

  test("each call of a batch is paid for", async () => {
    const guard = guardWith({ rateLimit: { perSecond: 1, burst: 5 } })
    const admission = await admitted(guard, incoming())
    expect(admission.charge(4)).toBeUndefined()
    expect(admission.charge()).toMatchObject({ code: "RATE_LIMITED" })
    expect(admission.charge(0)).toBeUndefined()
  })

  test("guessing credentials is slowed down, and does not lock out others at that address", async () => {
    const authenticate: GuardOptions["authenticate"] = ({ headers }) =>
      headers["authorization"] === "Bearer right" ? ada : undefined
    const guard = guardWith({ authenticate, rateLimit: { perSecond: 1, burst: 2 } })
    const statuses: unknown[] = []
    for (let i = 0; i < 4; i++) {
      const admission = await guard.admit(incoming({ authorization: `Bearer guess-${i}` }))
      statuses.push(admission.kind === "refused" && admission.status)
    }
    expect(statuses).toEqual([401, 401, 429, 429])
    await admitted(guard, incoming({ authorization: "Bearer right" }))
  })
})

describe("slots", () => {
  test("a caller has so many requests at once; a refused one holds nothing", async () => {
    const guard = guardWith({ maxConcurrency: 2 })
    const first = await admitted(guard, incoming())
    await admitted(guard, incoming())
    expect(await guard.admit(incoming())).toMatchObject({
      status: 429,
      headers: { "retry-after": "1" },
    })
    first.release()
    first.release()
    await admitted(guard, incoming())
    expect(await guard.admit(incoming())).toMatchObject({ status: 429 })
    await admitted(guard, incoming({}, { remoteAddress: "10.0.0.9" }))
  })

  test("of 1,000 streams of a caller 20 are opened; those that vanish make room (SV24)", async () => {
    const guard = guardWith({})
    const open: (() => void)[] = []
    const refused: CallError[] = []
    for (let i = 0; i < 1000; i++) {
      const admission = await admitted(guard, incoming({}, { identity: ada }))
      const full = admission.openStream()
      if (full === undefined) open.push(() => admission.release())
      else {
        refused.push(full)
        admission.release()
      }
    }
    expect([open.length, refused.length]).toEqual([20, 980])
    expect(refused[0]).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 1000 })
    const other = await admitted(guard, incoming({}, { identity: bob }))
    expect(other.openStream()).toBeUndefined()
    for (const vanish of open) vanish()
    for (const vanish of open) vanish()
    for (let i = 0; i < 20; i++) {
      expect((await admitted(guard, incoming({}, { identity: ada }))).openStream()).toBeUndefined()
    }
    expect((await admitted(guard, incoming({}, { identity: ada }))).openStream()).toBeDefined()
  })

  test("a stream gives up the slot of a request", async () => {
    const guard = guardWith({ maxConcurrency: 1, maxStreams: 3 })
    for (let i = 0; i < 3; i++) {
      const admission = await admitted(guard, incoming())
      expect(admission.openStream()).toBeUndefined()
      expect(admission.openStream()).toBeUndefined()
    }
    await admitted(guard, incoming())
    expect(await guard.admit(incoming())).toMatchObject({ status: 429 })
  })

  test("an identity cannot be mistaken for an address", async () => {
    const guard = guardWith({ maxConcurrency: 1 })
    await admitted(guard, incoming({}, { remoteAddress: "10.0.0.1" }))
    await admitted(guard, incoming({}, { identity: { id: "10.0.0.1", scopes: [] } }))
    await admitted(guard, incoming({}, { identity: { id: "at 10.0.0.1", scopes: [] } }))
    const again = await guard.admit(incoming({}, { remoteAddress: "10.0.0.1" }))
    expect(again).toMatchObject({ status: 429 })
  })
})

describe("memory", () => {
  test("accounts of idle callers are removed, those in use are kept", async () => {
    const clock = new VirtualClock()
    const accounts = new Accounts({ rateLimit: { perSecond: 1000, burst: 1 } }, clock)
    const busy = accounts.named("busy")
    busy.enter()
    for (let i = 0; i < 50_000; i++) {
      accounts.named(`caller ${i}`).charge(1)
      if (i % 1000 === 0) await clock.advance(10)
    }
    expect(accounts.size).toBeLessThanOrEqual(20_001)
    expect(accounts.named("busy")).toBe(busy)
  })
})

describe("callerAddress", () => {
  const from = (remoteAddress: string, forwarded?: string): string =>
    callerAddress(
      { headers: { "x-forwarded-for": forwarded }, socket: { remoteAddress } },
      new Set(["10.0.0.1", "10.0.0.2"]),
    )

  test("takes the last hop that is not one of our proxies", () => {
    expect(from("10.0.0.1", "6.6.6.6, 1.2.3.4")).toBe("1.2.3.4")
    expect(from("::ffff:10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2")).toBe("1.2.3.4")
    expect(from("10.0.0.1", "2001:DB8::1")).toBe("2001:db8::1")
  })

  test("ignores what others than our proxies say, and what is no address", () => {
    expect(from("1.2.3.4", "10.9.9.9")).toBe("1.2.3.4")
    expect(from("10.0.0.1", "1.2.3.4, <script>")).toBe("10.0.0.1")
    expect(from("10.0.0.1", "")).toBe("10.0.0.1")
    expect(from("10.0.0.1")).toBe("10.0.0.1")
  })
})

describe("addresses", () => {
  test.each([
    ["1.2.3.4", "1.2.3.4"],
    ["1.2.3.4:5678", "1.2.3.4"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["::FFFF:102:304", "1.2.3.4"],
    ["0:0:0:0:0:ffff:1.2.3.4", "1.2.3.4"],
    ["[::ffff:1.2.3.4]:80", "1.2.3.4"],
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["2001:0db8::0001", "2001:db8::1"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["fe80::1%eth0", "fe80::1"],
  ])("%s is %s", (written, canonical) => {
    expect(canonicalAddress(written)).toBe(canonical)
  })

  test.each(["01.2.3.4", "256.1.1.1", "1.2.3", "1.2.3.4.5", "::1]/x", "1:2:3", "", "unknown"])(
    "%j is none: a proxy that writes it is the caller",
    (text) => {
      const headers = { "x-forwarded-for": `9.9.9.9, ${text}` }
      const request = { headers, socket: { remoteAddress: "10.0.0.1" } }
      expect(callerAddress(request, new Set(["10.0.0.1"]))).toBe("10.0.0.1")
    },
  )

  const same = [
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"],
    ["2001:db8:1:2::", "2001:0DB8:0001:0002:0:0:0:9"],
    ["1.2.3.4", "::ffff:1.2.3.4"],
    ["1.2.3.4", "::ffff:102:304"],
  ] as const
  const different = [
    ["2001:db8:1:2::1", "2001:db8:1:3::1"],
    ["1.2.3.4", "1.2.3.5"],
    ["::ffff:1.2.3.4", "::ffff:1.2.3.5"],
  ] as const

  test.each([
    ...same.map((pair) => [...pair, 429] as const),
    ...different.map((pair) => [...pair, 401] as const),
  ])("credentials that fail from %s and %s: %i", async (one, other, status) => {
    const authenticate = (): undefined => undefined
    const guard = guardWith({ authenticate, rateLimit: { perSecond: 0.001, burst: 1 } })
    const from = async (remoteAddress: string): Promise<unknown> =>
      await guard.admit(incoming({ authorization: "Bearer wrong" }, { remoteAddress }))
    expect(await from(one)).toMatchObject({ status: 401 })
    expect(await from(other)).toMatchObject({ status })
  })

  test.each([
    ...same.map((pair) => [...pair, "refused"] as const),
    ...different.map((pair) => [...pair, "admitted"] as const),
  ])("requests from %s and %s: the second is %s", async (one, other, kind) => {
    const guard = guardWith({ maxConcurrency: 1 })
    await admitted(guard, incoming({}, { remoteAddress: one }))
    expect(await guard.admit(incoming({}, { remoteAddress: other }))).toMatchObject({ kind })
  })

  test("behind a proxy, the addresses that it writes are grouped alike", async () => {
    const guard = guardWith({ maxConcurrency: 1, trustedProxies: ["::FFFF:a00:1"] })
    const via = (forwarded: string): unknown =>
      guard.admit(incoming({ "x-forwarded-for": forwarded }, { remoteAddress: "10.0.0.1" }))
    expect(await via("2001:db8:1:2::1")).toMatchObject({ kind: "admitted" })
    expect(await via("[2001:db8:1:2::9]:4711")).toMatchObject({ status: 429 })
    expect(await via("2001:db8:1:3::1")).toMatchObject({ kind: "admitted" })
  })
})

describe("options", () => {
  test.each<GuardOptions>([
    { rateLimit: { perSecond: 0 } },
    { rateLimit: { perSecond: Number.NaN } },
    { rateLimit: { perSecond: Number.POSITIVE_INFINITY } },
  ])("%j makes no sense", (options) => {
    expect(() => guardWith(options)).toThrow(TypeError)
  })
})
