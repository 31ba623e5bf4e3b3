import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createRegistry, defineOperation } from "../../src/index.ts"
import { createManualClock } from "../../src/testing.ts"

describe("createManualClock", () => {
  test("time stands still until it is advanced", async () => {
    const clock = createManualClock(1000)
    const seen: number[] = []
    clock.setTimeout(() => seen.push(clock.now()), 10)
    const cleared = clock.setTimeout(() => seen.push(-1), 5)
    clock.clearTimeout(cleared)
    await clock.advance(9)
    expect(seen).toEqual([])
    await clock.advance(1)
    expect(seen).toEqual([1010])
    expect(clock.now()).toBe(1010)
  })

  test("timers run in the order in which they come due, and as they were set where that is the same", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: -2, max: 9 }), { maxLength: 12 }),
        async (delays) => {
          const clock = createManualClock()
          const seen: [number, number][] = []
          delays.forEach((delay, at) =>
            clock.setTimeout(() => seen.push([Math.max(delay, 0), at]), delay),
          )
          await clock.advance(9)
          expect(seen).toEqual(seen.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]))
          expect(seen).toHaveLength(delays.length)
        },
      ),
      { numRuns: 50 },
    )
  })

  test("a timer may set others, and what follows from it comes before the next", async () => {
    const clock = createManualClock()
    const seen: string[] = []
    clock.setTimeout(() => {
      clock.setTimeout(() => seen.push("inner"), 1)
      void Promise.resolve().then(() => seen.push("consequence"))
    }, 1)
    clock.setTimeout(() => seen.push("later"), 3)
    await clock.advance(3)
    expect(seen).toEqual(["consequence", "inner", "later"])
  })

  test("a call of a registry with it ends at its deadline, and not before", async () => {
    const clock = createManualClock()
    const slow = defineOperation({
      namespace: "test",
      name: "slow",
      type: "query",
      description: "Waits for ten minutes",
      inputSchema: { type: "object" },
      outputSchema: { type: "number" },
      accessControl: { requiredScopes: [] },
      handler: () =>
        new Promise<number>((resolve) => clock.setTimeout(() => resolve(clock.now()), 600_000)),
    })
    const registry = createRegistry([slow], { clock })
    const late = registry
      .execute("test.slow", {}, { timeout: 599_999 })
      .catch((error: unknown) => error)
    const inTime = registry.execute("test.slow", {}, { timeout: 600_001 })
    await clock.advance(600_000)
    expect(await late).toMatchObject({ code: "TIMEOUT" })
    expect((await inTime).data).toBe(600_000)
  })
})
