// Limits that are shared with others, and what policies keep in memory.
import { describe, expect, onTestFinished, test } from "vitest"
import { KnownKeys } from "../../src/policy/known-keys.ts"
import { TokenBuckets } from "../../src/policy/token-buckets.ts"
import { operation, quietRegistry, rejection } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { guarded } from "./harness.ts"

function counted(): { get: ReturnType<typeof operation>; starts: number[]; clock: VirtualClock } {
  const clock = new VirtualClock()
  const starts: number[] = []
  const handler = (): void => void starts.push(clock.now())
  return { get: operation("api.get", { type: "query", handler }), starts, clock }
}

describe("a limit that is shared", () => {
  test("lets a call wait for as long as the limiter says, and asks it again", async () => {
    const { get, starts, clock } = counted()
    const answers = [100, 50, 0]
    const asked: string[] = []
    const limiter = {
      take: (key: string): number => {
        asked.push(key)
        return answers.shift() ?? 0
      },
    }
    await using it = guarded(
      [get],
      { rateLimit: { perSecond: 1, maxWaitMs: 500, limiter } },
      { clock },
    )
    const call = it.registry.execute("api.get")
    await clock.advance(200)
    await call

    expect(starts).toEqual([150])
    expect(new Set(asked).size).toBe(1)
    expect(asked).toHaveLength(3)
  })

  test("refuses a call that would wait too long, at once", async () => {
    const { get, starts, clock } = counted()
    const limiter = { take: async (): Promise<number> => 700 }
    await using it = guarded(
      [get],
      { rateLimit: { perSecond: 1, maxWaitMs: 500, limiter } },
      { clock },
    )

    expect(await rejection(it.registry.execute("api.get"))).toMatchObject({
      code: "RATE_LIMITED",
      retryAfterMs: 700,
      mayHaveExecuted: false,
    })
    expect(starts).toEqual([])
  })

  test("lets a caller leave while it waits", async () => {
    const { get, starts, clock } = counted()
    for (const limiter of [{ take: () => 100 }, undefined]) {
      const rateLimit = { perSecond: 1, burst: 1, maxWaitMs: 5_000, limiter }
      await using it = guarded([get], { rateLimit }, { clock })
      if (limiter === undefined) await it.registry.execute("api.get")
      const before = starts.length
      const caller = new AbortController()
      const options = { signal: caller.signal }
      const left = rejection(it.registry.execute("api.get", undefined, options))
      await clock.advance(10)
      caller.abort()
      await clock.advance(10)
      expect(await left).toMatchObject({ code: "ABORTED" })
      await clock.advance(10_000)
      expect(starts).toHaveLength(before)
    }
  })
})

test("a caller without a key that leaves a queue was not executed, although one with a key runs", async () => {
  const clock = new VirtualClock()
  const handler = (): Promise<void> => new Promise((resolve) => clock.setTimeout(resolve, 1_000))
  const resilience = { concurrency: { max: 1, maxQueue: 1 }, idempotency: {} }
  const pay = operation("api.pay", { type: "mutation", handler, resilience })
  const registry = quietRegistry([pay], { clock })
  onTestFinished(() => registry.close())
  const keyed = registry.execute("api.pay", undefined, { idempotencyKey: "a" })
  await clock.advance(10)
  const left = rejection(registry.execute("api.pay", undefined, { timeout: 5 }))
  await clock.advance(10)
  expect(await left).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: false })
  await clock.advance(1_000)
  await keyed
})

describe("what policies keep in memory", () => {
  test("has at most 10,000 outcomes of a caller and 100,000 in all, and forgets the oldest, and those whose time is over", async () => {
    const clock = new VirtualClock()
    const keys = new KnownKeys(clock)
    const outcome = { input: "", value: "done", until: 1_000 }
    keys.set("ada", "k0", outcome)
    for (let key = 0; key <= 10_000; key++) {
      expect(keys.makeRoom("eve")).toBe(true)
      keys.set("eve", `k${key}`, outcome)
    }
    expect(keys.get("eve", "k10000")).toBe(outcome)
    expect(keys.get("eve", "k0")).toBeUndefined()
    expect(keys.get("ada", "k0")).toBe(outcome)
    for (let caller = 0; caller < 90_000; caller++) keys.set(`${caller}`, "k", outcome)
    expect([keys.get("ada", "k0"), keys.get("0", "k")]).toEqual([undefined, outcome])
    await clock.advance(1_000)
    expect(keys.get("eve", "k10000")).toBeUndefined()
  })

  test("keeps the keys of calls that run, and refuses a caller that has 10,000 of them", () => {
    const keys = new KnownKeys(new VirtualClock())
    const running = { input: "", running: {} as never, requestId: "r" }
    for (let key = 0; key < 10_000; key++) keys.set("eve", `k${key}`, running)
    expect([keys.makeRoom("eve"), keys.makeRoom("ada")]).toEqual([false, true])
    keys.set("eve", "k5000", { input: "", value: "done", until: 1 })
    expect(keys.makeRoom("eve")).toBe(true)
    expect([keys.get("eve", "k0"), keys.get("eve", "k5000")]).toEqual([running, undefined])
  })

  test("has at most 10,000 buckets: a new one replaces the least recently used", () => {
    const buckets = new TokenBuckets(1, 1)
    for (let key = 0; key <= 10_000; key++) buckets.take(`k${key}`, 0, 0)
    expect(buckets.take("k10000", 0, 0)).toBeLessThan(0)
    expect(buckets.take("k0", 0, 0)).toBe(0)
  })
})
