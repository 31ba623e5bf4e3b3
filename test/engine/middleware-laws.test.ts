// oxlint-disable vitest/no-conditional-expect -- which laws apply depends on what happened
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { CallError, isCallError, localEnvelope } from "../../src/index.ts"
import type { Change, MiddlewareFunction, Next, OperationContext } from "../../src/index.ts"
import { operation, quietRegistry } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { runs } from "../support/nightly.ts"

/** What a middleware does with one of its attempts. */
interface Step {
  readonly before: number
  readonly change: "none" | "empty" | "timeout" | "signal" | "detached"
  readonly after: number
  readonly isAwaited: boolean
}

interface Plan {
  readonly steps: readonly Step[]
  readonly end: "return" | "answer" | "throw" | "hang" | "nonsense"
}

/** What the handler does in each of its attempts. */
interface Work {
  readonly time: number
  readonly outcome: "ok" | "refused" | "fails" | "hangs"
}

const steps = fc.record({
  before: fc.nat(15),
  change: fc.constantFrom("none", "empty", "timeout", "signal", "detached"),
  after: fc.nat(15),
  isAwaited: fc.boolean(),
})
const plans = fc.record({
  steps: fc.array(steps, { maxLength: 3 }),
  end: fc.constantFrom("return", "return", "answer", "throw", "hang", "nonsense"),
})
const works = fc.record({
  time: fc.nat(25),
  outcome: fc.constantFrom("ok", "refused", "fails", "hangs"),
})

/** Runs one call through middleware that does as planned, in virtual time. */
async function run(
  middleware: readonly Plan[],
  work: readonly Work[],
  abortAt: number | undefined,
  closeAt: number | undefined,
) {
  const clock = new VirtualClock()
  const handled: { startedAt: number; endedAt: number; signal: AbortSignal; did: boolean }[] = []
  const registry = quietRegistry(
    [
      operation("law.call", {
        handler: async (_input: never, { signal, requestId }: OperationContext) => {
          const { time, outcome } = work[handled.length % work.length] ?? { time: 0, outcome: "ok" }
          const one = {
            startedAt: clock.now(),
            endedAt: Infinity,
            signal,
            did: outcome !== "refused",
          }
          handled.push(one)
          expect(requestId).toBe("law")
          if (time > 0) await clock.sleep(time)
          if (outcome === "hangs") await new Promise(() => undefined)
          one.endedAt = clock.now()
          if (outcome === "refused") throw new CallError("UNAVAILABLE", "not started")
          if (outcome === "fails") throw new Error("planned")
          return handled.length
        },
      }),
    ],
    { clock, timeout: 60 },
  )
  let left = 0
  const apply = (change: Step["change"], next: Next): Promise<unknown> => {
    const changes: Record<Step["change"], Change | undefined> = {
      none: undefined,
      empty: {},
      timeout: { timeout: 10 },
      signal: { signal: new AbortController().signal },
      detached: { detached: true, timeout: 40 },
    }
    return next(changes[change])
  }
  for (const plan of middleware) {
    const one: MiddlewareFunction = async (call, next) => {
      let last: unknown
      try {
        for (const { before, change, after, isAwaited } of plan.steps) {
          if (before > 0) await clock.sleep(before)
          const outcome = apply(change, next)
          if (isAwaited) last = await outcome.catch((error: unknown) => error)
          if (after > 0) await clock.sleep(after)
        }
        if (plan.end === "hang") await new Promise(() => undefined)
        if (plan.end === "throw") throw new Error("middleware")
        if (plan.end === "nonsense") return 7 as never
        if (plan.end === "answer") return localEnvelope(0, call.operationId)
        if (last === undefined) return await next()
        if (isCallError(last)) throw last
        return last as never
      } finally {
        left++
      }
    }
    registry.use(one)
  }
  const controller = new AbortController()
  if (abortAt !== undefined) clock.setTimeout(() => controller.abort(), abortAt)
  if (closeAt !== undefined) clock.setTimeout(() => void registry.close(), closeAt)
  let error: unknown
  let settledAt = -1
  const context = { signal: controller.signal, requestId: "law" }
  registry.execute("law.call", {}, context).then(
    () => (settledAt = clock.now()),
    (thrown: unknown) => {
      error = thrown
      settledAt = clock.now()
    },
  )
  await clock.runTo(5000)
  await registry.close()
  return { clock, handled, error, settledAt, left }
}

describe("the kernel, with random middleware around handlers that fail and hang", () => {
  test("every call settles in time, truthfully, and leaves nothing behind", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(plans, { minLength: 1, maxLength: 3 }),
        fc.array(works, { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat(80), { nil: undefined }),
        fc.option(fc.nat(80), { nil: undefined }),
        async (middleware, work, abortAt, closeAt) => {
          const { clock, handled, error, settledAt } = await run(middleware, work, abortAt, closeAt)
          expect(settledAt).toBeGreaterThanOrEqual(0)
          expect(settledAt).toBeLessThanOrEqual(Math.min(60, abortAt ?? 60, closeAt ?? 60))
          if (error !== undefined) expect(error).toSatisfy(isCallError)
          const failed = error as CallError | undefined
          const before = handled.filter(({ startedAt }) => startedAt <= settledAt)
          const isDetached = middleware.some((plan) =>
            plan.steps.some(({ change }) => change === "detached"),
          )
          // Nothing starts after the end, unless it was detached.
          if (!isDetached) expect(before).toHaveLength(handled.length)
          if (failed !== undefined && failed.attempts !== undefined) {
            expect(failed.attempts).toBeGreaterThan(1)
            expect(failed.attempts).toBeLessThanOrEqual(handled.length)
          }
          // "Not executed" is never said of a handler that did something.
          // Detached work may start in the very moment after the end.
          if (failed?.mayHaveExecuted === false) {
            const known = before.filter(({ startedAt }) => !isDetached || startedAt < settledAt)
            expect(known.filter(({ did }) => did)).toEqual([])
          }
          // What still runs has heard of the end.
          if (failed?.code === "TIMEOUT" || failed?.code === "ABORTED") {
            for (const { endedAt, signal } of handled) {
              expect(isDetached || endedAt <= settledAt || signal.aborted).toBe(true)
            }
          }
          expect(clock.timers).toBe(0)
        },
      ),
      { numRuns: runs(300) },
    )
  })
})
