import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { CallError, mcpEnvelope, httpEnvelope } from "../../src/index.ts"
import type {
  CallOptions,
  Identity,
  OperationContext,
  Resilience,
  ResponseEnvelope,
} from "../../src/index.ts"
import { lifetimeByHeaders } from "../../src/policy/cache-control.ts"
import { CachePool, CacheStore } from "../../src/policy/cache-store.ts"
import { jsonKey } from "../../src/internal/json-key.ts"
import { operation, rejection } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { guarded, settle, targetOf } from "./harness.ts"

const as = (
  id: string,
  scopes: readonly string[] = [],
  resources?: Identity["resources"],
): CallOptions => ({ identity: { id, scopes, ...(resources && { resources }) } })

/** A query that counts its runs. */
function counting(
  run: (runs: number, input: unknown, context: OperationContext) => unknown = (runs) => ({ runs }),
  parts: object = {},
): { get: ReturnType<typeof operation>; runs: () => number } {
  let runs = 0
  const get = operation("api.get", {
    type: "query",
    ...parts,
    handler: async (input: unknown, context: OperationContext) => await run(++runs, input, context),
  })
  return { get, runs: () => runs }
}

describe("the cache", () => {
  test("returns a fresh result from memory, with meta.cache", async () => {
    const { get, runs } = counting()
    await using it = guarded([get], { cache: { ttl: 1_000 } })
    const first = await it.registry.execute("api.get", { a: 1, b: [2, { c: 3 }] })
    await it.clock.advance(400)
    const second = await it.registry.execute("api.get", { b: [2, { c: 3 }], a: 1, d: undefined })

    expect([first.data, first.meta.cache]).toEqual([{ runs: 1 }, undefined])
    expect([second.data, second.meta.cache]).toEqual([{ runs: 1 }, { age: 400, state: "fresh" }])
    await it.clock.advance(600)
    expect(await it.registry.execute("api.get", { a: 1, b: [2, { c: 3 }] })).toMatchObject({
      data: { runs: 2 },
    })
    expect(runs()).toBe(2)
  })

  test("runs 1,000 equal calls at the same time once", async () => {
    const clock = new VirtualClock()
    const { get, runs } = counting(async (count) => {
      await clock.sleep(100)
      return { count }
    })
    await using it = guarded([get], { cache: { ttl: 1_000 } }, { clock })
    const calls = Promise.all(
      Array.from({ length: 1_000 }, () => it.registry.execute("api.get", 1)),
    )
    await clock.advance(200)

    expect(
      (await calls).every(
        ({ data }) =>
          data === (data as { count: number }) && (data as { count: number }).count === 1,
      ),
    ).toBe(true)
    expect(runs()).toBe(1)
    expect(it.policies.state().operations).toMatchObject([
      { cache: { misses: 1, joined: 999, entries: 1 } },
    ])
  })

  test("never returns the result of another identity, or of the same identity with other rights", async () => {
    const { get, runs } = counting((_runs, _input, { identity }) => ({
      who: identity?.id,
      scopes: identity?.scopes,
      resources: identity?.resources,
    }))
    await using it = guarded([get], { cache: { ttl: 1_000 } })
    const callers = [undefined, as("ada"), as("bob"), as("ada", ["admin"]), as("-"), as("")]
    callers.push(as("ada", [], { "shop:1": ["read"] }), as("ada", [], { "shop:2": ["read"] }))
    for (const caller of [...callers, ...callers]) {
      const { data } = await it.registry.execute("api.get", 1, caller)
      const { id, scopes, resources } = caller?.identity ?? {}
      expect(data).toEqual(id === undefined ? {} : { who: id, scopes, resources })
    }
    expect(runs()).toBe(callers.length)
  })

  test("shares results among all callers with vary none, or by a function", async () => {
    const { get, runs } = counting()
    await using all = guarded([get], { cache: { ttl: 1_000, vary: "none" } })
    await all.registry.execute("api.get", 1, as("ada"))
    await all.registry.execute("api.get", 1, as("bob"))
    expect(runs()).toBe(1)

    const grouped = counting()
    const vary = ({ identity }: { identity?: { id: string } | undefined }): string =>
      identity?.id.slice(0, 1) ?? ""
    await using some = guarded([grouped.get], { cache: { ttl: 1_000, vary } })
    for (const id of ["ada", "anna", "bob"]) await some.registry.execute("api.get", 1, as(id))
    expect(grouped.runs()).toBe(2)
  })

  test("has nothing for a caller who is denied, although the result is there", async () => {
    const { get } = counting(undefined, { accessControl: { requiredScopes: ["read"] } })
    await using it = guarded([get], { cache: { ttl: 1_000, vary: "none" } })
    await it.registry.execute("api.get", 1, as("ada", ["read"]))

    expect(await rejection(it.registry.execute("api.get", 1, as("bob")))).toMatchObject({
      code: "ACCESS_DENIED",
    })
    expect(await rejection(it.registry.execute("api.get", 1))).toMatchObject({
      code: "ACCESS_DENIED",
    })
  })

  test("returns no result of a replaced operation, even if it was being loaded", async () => {
    const { get } = counting(() => "old")
    const other = counting(() => "new")
    await using it = guarded([get], { cache: { ttl: 1_000 } })
    await it.registry.execute("api.get", 1)
    it.registry.register(other.get as never, { replace: true })
    expect(await it.registry.execute("api.get", 1)).toMatchObject({ data: "new" })
  })

  test("returns the result to the other callers when one of them leaves", async () => {
    const leavers = fc.uniqueArray(fc.nat(9), { maxLength: 9 })
    await fc.assert(
      fc.asyncProperty(leavers, fc.nat(90), async (leaving, at) => {
        const clock = new VirtualClock()
        const { get, runs } = counting(async () => {
          await clock.sleep(100)
          return "there"
        })
        await using it = guarded([get], { cache: { ttl: 1_000 } }, { clock })
        const controllers = Array.from({ length: 10 }, () => new AbortController())
        const calls = controllers.map(({ signal }) => it.registry.execute("api.get", 1, { signal }))
        const outcomes = Promise.allSettled(calls)
        await clock.advance(at)
        for (const one of leaving) controllers[one]?.abort()
        await clock.advance(200)
        for (const [index, outcome] of (await outcomes).entries()) {
          const left = { reason: { code: "ABORTED" } }
          expect(outcome).toMatchObject(
            leaving.includes(index) ? left : { value: { data: "there" } },
          )
        }
        expect(runs()).toBe(1)
      }),
      { numRuns: 50 },
    )
  })

  test("ends its work when the last caller leaves, and repeats on behalf of those who are left", async () => {
    const signals: AbortSignal[] = []
    const clock = new VirtualClock()
    const { get } = counting(async (runs, _input, { signal }) => {
      signals.push(signal)
      await clock.sleep(100)
      if (runs === 1) throw new CallError("UNAVAILABLE", "away")
      return runs
    })
    await using it = guarded([get], { retry: { delay: 50 }, cache: { ttl: 1_000 } }, { clock })
    const controllers = [new AbortController(), new AbortController()]
    const calls = controllers.map(({ signal }) => it.registry.execute("api.get", 1, { signal }))
    const outcomes = Promise.allSettled(calls)
    await clock.advance(50)
    controllers[0]?.abort()
    await clock.advance(80)
    expect(signals.length).toBe(2)
    await clock.advance(200)
    expect(await outcomes).toMatchObject([{ reason: { code: "ABORTED" } }, { value: { data: 2 } }])

    const alone = new AbortController()
    const last = it.registry.execute("api.get", 2, { signal: alone.signal }).catch(() => undefined)
    await clock.advance(50)
    alone.abort()
    await last
    expect(signals[2]?.aborted).toBe(true)
  })

  test("keeps each caller's own deadline", async () => {
    const clock = new VirtualClock()
    const { get, runs } = counting(async () => {
      await clock.sleep(500)
      return "there"
    })
    await using it = guarded([get], { cache: { ttl: 1_000 } }, { clock })
    const calls = [100, 1_000].map((timeout) => it.registry.execute("api.get", 1, { timeout }))
    const outcomes = Promise.allSettled(calls)
    await clock.advance(600)
    expect(await outcomes).toMatchObject([
      { reason: { code: "TIMEOUT" } },
      { value: { data: "there" } },
    ])
    expect(runs()).toBe(1)
  })

  test("freezes results all the way down, on a miss and on a hit, and leaves the handler its own", async () => {
    const own = { list: [{ name: "a" }] }
    const { get } = counting(() => own)
    await using it = guarded([get], { cache: { ttl: 1_000 } })
    const miss = await it.registry.execute("api.get", 1)
    const hit = await it.registry.execute("api.get", 1)
    for (const { data } of [miss, hit] as ResponseEnvelope<typeof own>[]) {
      expect([data, data.list, data.list[0]].every((part) => Object.isFrozen(part))).toBe(true)
    }
    expect(Object.isFrozen(own)).toBe(false)
    own.list[0]!.name = "changed"
    expect(await it.registry.execute("api.get", 1)).toMatchObject({
      data: { list: [{ name: "a" }] },
    })
  })

  test("keeps neither failures, nor results that cannot be frozen, nor what is not JSON", async () => {
    const results = [
      () => new Uint8Array([1]),
      () => new Date(0),
      () => mcpEnvelope(1, { isError: true, content: [] }),
      () => httpEnvelope(1, { statusCode: 206, headers: {}, contentType: "text/plain" }),
      () =>
        httpEnvelope(1, {
          statusCode: 200,
          headers: { "cache-control": "no-store" },
          contentType: "text/plain",
        }),
    ]
    for (const result of results) {
      const { get, runs } = counting(result)
      await using it = guarded([get], { cache: { ttl: 1_000 } })
      await it.registry.execute("api.get", 1)
      await it.registry.execute("api.get", 1)
      expect(runs()).toBe(2)
    }
    const { get, runs } = counting()
    await using it = guarded([get], { cache: { ttl: 1_000 } })
    for (let calls = 0; calls < 2; calls++)
      await it.registry.execute("api.get", { file: new Uint8Array(3) })
    expect(runs()).toBe(2)
  })

  test("loads a separate result for each caller if it cannot be frozen", async () => {
    const clock = new VirtualClock()
    const { get } = counting(async () => {
      await clock.sleep(10)
      return new Uint8Array([1])
    })
    await using it = guarded([get], { cache: { ttl: 1_000 } }, { clock })
    const calls = Promise.all([1, 1].map((input) => it.registry.execute("api.get", input)))
    await clock.advance(20)
    const [one, two] = await calls
    expect(one?.data).toEqual(two?.data)
    expect(one?.data).not.toBe(two?.data)
  })

  test("returns a stale result at once and reloads it once in the background", async () => {
    const clock = new VirtualClock()
    const { get, runs } = counting(async (count) => {
      await clock.sleep(50)
      return count
    })
    await using it = guarded([get], { cache: { ttl: 100, stale: 1_000 } }, { clock })
    await settle(clock, it.registry.execute("api.get", 1), 60)
    await clock.advance(200)
    const stale = await Promise.all([1, 1, 1].map((input) => it.registry.execute("api.get", input)))
    expect(stale.map(({ data, meta }) => [data, meta.cache?.state])).toEqual([
      [1, "stale"],
      [1, "stale"],
      [1, "stale"],
    ])
    await clock.advance(60)
    expect(await it.registry.execute("api.get", 1)).toMatchObject({
      data: 2,
      meta: { cache: { state: "fresh" } },
    })
    expect(runs()).toBe(2)
  })

  test("returns an old result when the system is away, and the error when it is the caller's", async () => {
    let error: Error | undefined
    const { get } = counting((count) => {
      if (error !== undefined) throw error
      return count
    })
    await using it = guarded([get], { cache: { ttl: 100, staleIfError: 1_000 } })
    await it.registry.execute("api.get", 1)
    await it.clock.advance(500)
    error = new CallError("UNAVAILABLE", "away")
    expect(await it.registry.execute("api.get", 1)).toMatchObject({
      data: 1,
      meta: { cache: { age: 500, state: "stale" } },
    })
    error = new CallError("NO_SUCH_THING", "gone")
    expect(await rejection(it.registry.execute("api.get", 1))).toMatchObject({
      code: "NO_SUCH_THING",
    })
    error = new CallError("UNAVAILABLE", "away")
    await it.clock.advance(700)
    expect(await rejection(it.registry.execute("api.get", 1))).toMatchObject({
      code: "UNAVAILABLE",
    })
  })

  test("is left out for a caller who skips it, and renewed for one who refreshes it", async () => {
    const { get, runs } = counting((count) => count)
    await using it = guarded([get], { cache: { ttl: 1_000 } })
    const call = async (cache?: "skip" | "refresh"): Promise<unknown> =>
      (await it.registry.execute("api.get", 1, { policy: { cache } })).data
    expect([
      await call(),
      await call("skip"),
      await call(),
      await call("refresh"),
      await call(),
    ]).toEqual([1, 2, 1, 3, 3])
    expect(runs()).toBe(3)
  })

  test("is emptied by a mutation that invalidates it, and keeps no result from before", async () => {
    const clock = new VirtualClock()
    let stored = "old"
    const get = operation("task.get", {
      type: "query",
      handler: async () => {
        const read = stored
        await clock.sleep(100)
        return read
      },
    })
    const set = operation("task.set", {
      handler: () => {
        stored = "new"
      },
    })
    const policies = (id: string): Resilience =>
      id === "task.get" ? { cache: { ttl: 10_000 } } : { invalidates: ["task.*"] }
    await using it = guarded([get, set], policies, { clock })
    const before = it.registry.execute("task.get", 1)
    await clock.advance(50)
    await it.registry.execute("task.set")
    await clock.advance(100)
    expect(await before).toMatchObject({ data: "old" })
    const after = it.registry.execute("task.get", 1)
    await clock.advance(200)
    expect(await after).toMatchObject({ data: "new" })
  })

  test("ends what it loads behind when the registry closes, without an unhandled rejection", async () => {
    const clock = new VirtualClock()
    const signals: AbortSignal[] = []
    const { get } = counting(async (count, _input, { signal }) => {
      signals.push(signal)
      if (count > 1) await clock.sleep(10_000)
      return count
    })
    const it = guarded([get], { cache: { ttl: 10, stale: 10_000 } }, { clock })
    await it.registry.execute("api.get", 1)
    await clock.advance(100)
    await it.registry.execute("api.get", 1)
    await it[Symbol.asyncDispose]()
    expect(signals[1]?.aborted).toBe(true)
  })
})

describe("the memory of caches", () => {
  const entry = (size: number): Parameters<CacheStore["set"]>[1] => ({
    envelope: { data: 1, meta: { source: "local", operationId: "a.b", timestamp: 0 } },
    size,
    storedAt: 0,
    freshUntil: 1,
    staleUntil: 1,
    errorUntil: 1,
    validators: undefined,
  })

  test("is bounded for all together: the largest cache gives way, and nothing over 1 MiB is kept", () => {
    const pool = new CachePool(10_000)
    const [large, small] = [new CacheStore(100, pool), new CacheStore(100, pool)]
    for (let key = 0; key < 9; key++) large.set(`${key}`, entry(1_000))
    small.set("a", entry(2_000))
    expect(pool.bytes).toBeLessThanOrEqual(10_000)
    expect([large.size, small.size, large.get("0")]).toEqual([7, 1, undefined])
    small.set("b", entry(2_000_000))
    expect(small.size).toBe(1)
    large.close()
    expect(pool.bytes).toBe(small.bytes)
  })
})

describe("what an HTTP server says about caching", () => {
  const policy = { ttl: 60_000, stale: 10_000, staleIfError: 10_000 }
  test.each([
    [{}, policy, { ttl: 60_000, stale: 10_000, staleIfError: 10_000 }],
    [
      { "cache-control": "max-age=10, stale-while-revalidate=5" },
      policy,
      { ttl: 10_000, stale: 5_000, staleIfError: 10_000 },
    ],
    [
      { "cache-control": "max-age=600" },
      policy,
      { ttl: 60_000, stale: 10_000, staleIfError: 10_000 },
    ],
    [
      { "cache-control": "max-age=600" },
      { ...policy, respectCacheControl: true },
      { ttl: 600_000, stale: 10_000, staleIfError: 10_000 },
    ],
    [
      { "cache-control": "max-age=10", age: "4" },
      policy,
      { ttl: 6_000, stale: 10_000, staleIfError: 10_000 },
    ],
    [{ "cache-control": "no-cache" }, policy, { ttl: 0, stale: 10_000, staleIfError: 10_000 }],
    [{ "cache-control": "No-Store" }, policy, undefined],
    [{ "cache-control": "private" }, { ...policy, vary: "none" as const }, undefined],
    [
      { "cache-control": "s-maxage=1, max-age=9" },
      { ...policy, vary: "none" as const },
      { ttl: 1_000, stale: 10_000, staleIfError: 10_000 },
    ],
    [{ vary: "*" }, policy, undefined],
    [
      { "cache-control": "max-age=nonsense, =, ,max-age" },
      policy,
      { ttl: 60_000, stale: 10_000, staleIfError: 10_000 },
    ],
  ])("%j shortens, forbids, or sets what is configured", (headers, given, expected) => {
    expect(lifetimeByHeaders(headers as Record<string, string>, given)).toEqual(expected)
  })
})

describe("jsonKey", () => {
  test("is equal for equal JSON and for nothing else", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const isSame = JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))
        expect(jsonKey(left) === jsonKey(right)).toBe(isSame)
        expect(jsonKey(JSON.parse(JSON.stringify(left)))).toBe(jsonKey(left))
      }),
    )
    const loop: { self?: unknown } = {}
    loop.self = loop
    const others = [loop, 1n, Number.NaN, new Map(), [new Date(0)], { a: () => 1 }, Symbol("x")]
    for (const other of others) expect(jsonKey(other)).toBeUndefined()
    expect(jsonKey({ a: undefined })).toBe(jsonKey({}))
  })
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value === 0 ? 0 : value
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { members: members.map(([key, item]) => [key, sorted(item)]) }
}

test("an operation as policies see it has the settings of its layers, one by one", async () => {
  const { describeResilience, resolveResilience } = await import("../../src/policy/resolve.ts")
  const { get } = counting()
  const target = {
    ...targetOf(get, "standard"),
    layers: [
      { from: 'pattern "api.*"', settings: { retry: false, cache: { ttl: 1, vary: () => "" } } },
      { from: "definition", settings: { retry: { attempts: 9 }, fallback: () => 1 } },
      { from: 'source "api"', settings: "standard" },
    ] as const,
  }
  expect(resolveResilience(target)).toEqual({
    cache: { ttl: 1, vary: expect.any(Function) as unknown },
    fallback: expect.any(Function) as unknown,
    timeout: { attempt: 10_000 },
    concurrency: { max: 64, maxQueue: 256 },
    breaker: {},
  })
  expect(describeResilience(target)).toEqual([
    { policy: "cache", from: 'pattern "api.*"', settings: { ttl: 1, vary: "custom" } },
    { policy: "fallback", from: "definition", settings: "custom" },
    { policy: "timeout", from: 'source "api"', settings: { attempt: 10_000 } },
    { policy: "concurrency", from: 'source "api"', settings: { max: 64, maxQueue: 256 } },
    { policy: "breaker", from: 'source "api"', settings: {} },
  ])
  expect(resolveResilience({ ...target, isIdempotent: false })).not.toHaveProperty("cache")
})
