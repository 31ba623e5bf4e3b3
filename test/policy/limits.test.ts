// Limits that are shared with others, and what policies keep in memory.
import { describe, expect, test } from "vitest"
import { MemoryOutcomes } from "../../src/policy/memory-idempotency-store.ts"
import { TokenBuckets } from "../../src/policy/token-buckets.ts"
import { operation, rejection } from "../support/operations.ts"
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
    await using it = guarded([get], { rateLimit: { perSecond: 1, wait: 500, limiter } }, { clock })
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
    await using it = guarded([get], { rateLimit: { perSecond: 1, wait: 500, limiter } }, { clock })

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
      const rateLimit = { perSecond: 1, burst: 1, wait: 5_000, limiter }
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

describe("what policies keep in memory", () => {
  test("has at most 10,000 outcomes, and forgets the oldest, and those whose time is over", async () => {
    const clock = new VirtualClock()
    const outcomes = new MemoryOutcomes(clock)
    for (let key = 0; key <= 10_000; key++) outcomes.finish(`k${key}`, "done", 1_000)
    expect(outcomes.begin("k10000", "again", 1_000)).toBe("done")
    expect(outcomes.begin("k0", "again", 1_000)).toBeUndefined()
    await clock.advance(1_000)
    expect(outcomes.begin("k10000", "again", 1_000)).toBeUndefined()
  })

  test("has at most 10,000 buckets: a new one replaces the least recently used", () => {
    const buckets = new TokenBuckets(1, 1)
    for (let key = 0; key <= 10_000; key++) buckets.take(`k${key}`, 0, 0)
    expect(buckets.take("k10000", 0, 0)).toBeLessThan(0)
    expect(buckets.take("k0", 0, 0)).toBe(0)
  })
})
