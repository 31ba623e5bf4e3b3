import { getEventListeners } from "node:events"
import { expect } from "vitest"
import { settle } from "../sim/clock.ts"
import { isOpen } from "./model.ts"
import type { Model, Request } from "./model.ts"
import type { Real, Seen } from "./real.ts"

/** Holds what happened to what should have. */
export function expectAgreement(model: Model, real: Real): void {
  expect(real.map.getPendingCount()).toBe(model.pending)
  expect(real.map.droppedCount).toBe(model.dropped)
  for (const request of model.requests) {
    const seen = real.seen[request.index] as Seen
    expect(seen.outcomes).toEqual(request.outcomes)
    expectWords(request, real, seen)
    expectTruth(request, seen)
    // Whoever no longer waits no longer listens.
    const listeners = getEventListeners(seen.controller.signal, "abort").length
    expect(listeners).toBe(isOpen(request) ? 1 : 0)
    if (request.kind === "stream") expectCredit(request, real, seen)
  }
}

/** Once closed, nothing is pending, nothing ticks, and nothing was reported twice. */
export async function expectEnd(model: Model, real: Real): Promise<void> {
  await real.map.close()
  await settle()
  expect(real.map.getPendingCount()).toBe(0)
  // What was put off until the turn is over finds nothing to do.
  await real.world.runTo(real.world.time)
  expect(real.clock.size).toBe(0)
  expect(real.transport.closes).toBe(1)
  for (const request of model.requests) {
    const { outcomes } = real.seen[request.index] ?? { outcomes: [] }
    const wasOpen = isOpen(request)
    if (request.kind === "call") expect(outcomes).toHaveLength(1)
    else if (wasOpen && request.isWaiting) expect(outcomes.at(-1)).toBe("ABORTED")
  }
}

/** One request; then credit, for streams; then at most one word that this side leaves. */
function expectWords(request: Request, real: Real, { requestId }: Seen): void {
  const words = real.sentFor(requestId).map(({ type }) => type)
  const credits = words.filter((word) => word === "call.credit")
  const expected = [
    ...(request.isSent ? ["call.requested"] : []),
    ...credits,
    ...(request.leaves > 0 ? ["call.aborted"] : []),
  ]
  expect(request.leaves).toBeLessThanOrEqual(1)
  expect(words).toEqual(expected)
}

/** What was never sent is not said to have run. */
function expectTruth(request: Request, { errors, requestId }: Seen): void {
  for (const error of errors) {
    if (!request.isSent) expect(error.mayHaveExecuted).toBe(false)
    expect(error.requestId ?? requestId).toBe(requestId)
  }
}

/** Never more on its way than there is room for, and never nothing while there is room. */
function expectCredit(request: Request, real: Real, { requestId }: Seen): void {
  if (!isOpen(request)) return
  const granted = real
    .sentFor(requestId)
    .reduce(
      (last, event) => (event.type === "call.credit" ? Math.max(last, event.credit) : last),
      request.window,
    )
  const onTheWay = granted - request.seq
  expect(onTheWay).toBeLessThanOrEqual(request.window - request.buffer.length)
  if (request.buffer.length === 0) expect(onTheWay).toBeGreaterThan(0)
}
