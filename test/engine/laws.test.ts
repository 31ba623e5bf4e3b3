import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isCallError } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { OperationContext } from "../../src/index.ts"
import { operation, quietRegistry } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { runs } from "../support/nightly.ts"

/** What one call does: works for a while, then calls its children, one by one or all at once. */
interface Plan {
  readonly kind: "sync" | "async" | "throws" | "hangs" | "stream"
  readonly work: number
  readonly deadline: number | undefined
  readonly isParallel: boolean
  readonly observesSignal: boolean
  readonly children: readonly Plan[]
}

interface Trace {
  readonly plan: Plan
  readonly parent: Trace | undefined
  readonly signal: AbortSignal
  readonly startedAt: number
  /** When its handler was through; those that ignore their signal are through late, or never. */
  finishedAt: number
}

function plans(depth: number): fc.Arbitrary<Plan> {
  return fc.record({
    kind: fc.constantFrom("sync", "async", "throws", "hangs", "stream"),
    work: fc.nat(20),
    deadline: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
    isParallel: fc.boolean(),
    observesSignal: fc.boolean(),
    children: depth === 0 ? fc.constant([]) : fc.array(plans(depth - 1), { maxLength: 3 }),
  })
}

async function run(
  root: Plan,
  abortAt: number | undefined,
  closeAt: number | undefined,
): Promise<{ traces: Trace[]; outcome: string; settledAt: number }> {
  const clock = new VirtualClock()
  const traces: Trace[] = []

  const begin = (input: { plan: Plan; parent?: Trace }, context: OperationContext): Trace => {
    const trace: Trace = {
      plan: input.plan,
      parent: input.parent,
      signal: context.signal,
      startedAt: clock.now(),
      finishedAt: Number.POSITIVE_INFINITY,
    }
    traces.push(trace)
    return trace
  }
  const sleep = (trace: Trace, milliseconds: number): Promise<unknown> =>
    trace.plan.observesSignal
      ? Promise.race([
          clock.sleep(milliseconds),
          new Promise((_resolve, reject) => {
            trace.signal.addEventListener("abort", () => reject(trace.signal.reason as Error))
          }),
        ])
      : clock.sleep(milliseconds)

  const child = async (trace: Trace, context: OperationContext, next: Plan): Promise<void> => {
    const options = next.deadline === undefined ? {} : { deadline: clock.now() + next.deadline }
    const input = { plan: next, parent: trace }
    if (next.kind === "stream") {
      for await (const _item of context.subscribe("law.stream", input, options))
        if (next.work % 2 === 1) break
    } else await context.call(next.kind === "sync" ? "law.sync" : "law.async", input, options)
  }
  const children = async (trace: Trace, context: OperationContext): Promise<void> => {
    if (trace.plan.isParallel) {
      await Promise.allSettled(trace.plan.children.map((next) => child(trace, context, next)))
    } else for (const next of trace.plan.children) await child(trace, context, next)
  }

  const registry = quietRegistry(
    [
      operation("law.sync", {
        handler: (input: never, context: OperationContext) => {
          begin(input, context).finishedAt = clock.now()
          return 1
        },
      }),
      operation("law.async", {
        handler: async (input: never, context: OperationContext) => {
          const trace = begin(input, context)
          try {
            await sleep(trace, trace.plan.work)
            if (trace.plan.kind === "throws") throw new Error("planned")
            if (trace.plan.kind === "hangs") await sleep(trace, 1e9)
            await children(trace, context)
          } finally {
            trace.finishedAt = clock.now()
          }
          return 1
        },
      }),
      operation("law.stream", {
        type: "subscription",
        async *handler(input: never, context: OperationContext) {
          const trace = begin(input, context)
          try {
            yield 1
            await sleep(trace, trace.plan.work)
            await children(trace, context)
            yield 2
          } finally {
            trace.finishedAt = clock.now()
          }
        },
      }),
    ],
    { clock, logger: silentLogger, timeout: 100 },
  )
  const controller = new AbortController()
  if (abortAt !== undefined) clock.setTimeout(() => controller.abort(), abortAt)
  if (closeAt !== undefined) clock.setTimeout(() => void registry.close(), closeAt)
  let outcome = "pending"
  let settledAt = -1
  const call = registry.execute("law.async", { plan: root }, { signal: controller.signal })
  void call.then(
    () => {
      outcome = "ok"
      settledAt = clock.now()
    },
    (error: unknown) => {
      outcome = isCallError(error) ? error.code : "foreign"
      settledAt = clock.now()
    },
  )
  await clock.runTo(5000)
  return { traces, outcome, settledAt }
}

describe("the kernel, with random trees of calls and callers that leave", () => {
  test("every call settles in time, with a CallError if it fails; calls under an ended call are aborted", async () => {
    await fc.assert(
      fc.asyncProperty(
        plans(3),
        fc.option(fc.nat(120), { nil: undefined }),
        fc.option(fc.nat(120), { nil: undefined }),
        async (root, abortAt, closeAt) => {
          const { traces, outcome, settledAt } = await run(root, abortAt, closeAt)
          expect([
            "ok",
            "EXECUTION_ERROR",
            "TIMEOUT",
            "ABORTED",
            "UNAVAILABLE",
            "CALL_DEPTH_EXCEEDED",
          ]).toContain(outcome)
          // 100 is the registry's default: nothing outlasts it, and an abort or a close is heard at once.
          expect(settledAt).toBeLessThanOrEqual(Math.min(100, abortAt ?? 100, closeAt ?? 100))
          for (const trace of traces) {
            // Nothing starts under a call that has ended.
            expect(trace.parent?.signal.aborted === true && trace.startedAt > settledAt).toBe(false)
            // A call that ended early aborted everything that still ran under it.
            const wasCut = outcome === "ABORTED" || outcome === "TIMEOUT"
            expect(!wasCut || trace.finishedAt <= settledAt || trace.signal.aborted).toBe(true)
            // And nothing that hangs is left alone.
            expect(trace.plan.kind !== "hangs" || trace.signal.aborted).toBe(true)
          }
        },
      ),
      { numRuns: runs(150) },
    )
  })
})
