// The log of calls, in whatever order their starts and ends arrive.

import type { CallTrace } from "../api/model.ts"
import { toForest } from "./call-forest.ts"
import type { LoggedCall } from "./call-forest.ts"

/** Maximum number of calls in the log. */
export const MAX_CALLS = 2000

export interface CallLog {
  readonly calls: ReadonlyMap<string, LoggedCall>
  /** Number of starts and ends that changed the log. */
  readonly seen: number
  /** Number of calls that were dropped from the log. */
  readonly dropped: number
  /** How far this browser's clock is ahead of the hub's, in milliseconds. */
  readonly skewMs: number
}

/** The empty log. */
export const EMPTY_LOG: CallLog = { calls: new Map(), seen: 0, dropped: 0, skewMs: 0 }

/** Traces, and when they arrived; without a time for past traces, which say nothing about the clocks. */
export interface ReceivedTraces {
  readonly traces: readonly CallTrace[]
  readonly receivedAt?: number | undefined
}

/** Adds traces; known ones change nothing. */
export function addTraces(log: CallLog, received: ReceivedTraces, limit = MAX_CALLS): CallLog {
  const calls = new Map(log.calls)
  let seen = 0
  for (const trace of received.traces) {
    const key = keyOf(trace)
    const previous = calls.get(key)
    const next = withTrace(key, previous, trace)
    if (next === previous) continue
    calls.set(key, next)
    seen++
  }
  const skewMs = skewOf(received, log.skewMs)
  if (seen === 0) return skewMs === log.skewMs ? log : { ...log, skewMs }
  const dropped = log.dropped + trim(calls, limit)
  return { calls, seen: log.seen + seen, dropped, skewMs }
}

/** Marks running calls as unknown after a gap in the events: they may have ended. */
export function loseTrack(log: CallLog): CallLog {
  const calls = new Map(log.calls)
  for (const [key, call] of calls) {
    if (call.state === "running") calls.set(key, { ...call, state: "unknown" })
  }
  return { ...log, calls }
}

/** Removes ended calls. */
export function clearEnded(log: CallLog): CallLog {
  const running = [...log.calls].filter(([, { state }]) => state === "running")
  return { ...log, calls: new Map(running), dropped: 0 }
}

/** How long a call took, or has been running at a time of this browser's clock. */
export function durationAt(
  call: LoggedCall,
  now: number,
  { skewMs }: Pick<CallLog, "skewMs">,
): number | undefined {
  if (call.durationMs !== undefined) return call.durationMs
  return call.state === "running" ? Math.max(0, now - skewMs - call.at) : undefined
}

/** The key of a call. The trace of its end also has the start time, so that both give the same key. */
function keyOf({ requestId, operationId, at }: CallTrace): string {
  // The length keeps ids apart that have spaces in them.
  return `${at} ${requestId.length} ${requestId} ${operationId}`
}

function withTrace(key: string, previous: LoggedCall | undefined, trace: CallTrace): LoggedCall {
  if (trace.phase === "start") {
    // A start that arrives after its end, or twice, changes nothing.
    if (previous !== undefined && previous.state !== "unknown") return previous
    return { ...beginningOf(key, trace), state: "running" }
  }
  if (previous?.durationMs !== undefined) return previous
  const { outcome, durationMs, code, approval, source, items } = trace
  return { ...beginningOf(key, trace), state: outcome, durationMs, code, approval, source, items }
}

function beginningOf(key: string, trace: CallTrace): Omit<LoggedCall, "state"> {
  return {
    key,
    requestId: trace.requestId,
    parentRequestId: trace.parentRequestId,
    operationId: trace.operationId,
    type: trace.type,
    at: trace.at,
    identity: trace.identity,
    durationMs: undefined,
    code: undefined,
    source: undefined,
    items: 0,
  }
}

/**
 * The difference of the clocks, estimated from these traces.
 *
 * An end is sent as it happens. A start may be sent much later, to a new listener: it only shows that it was not
 * in the future.
 */
function skewOf({ traces, receivedAt }: ReceivedTraces, before: number): number {
  if (receivedAt === undefined) return before
  const ends = traces.flatMap((trace) =>
    trace.phase === "end" ? [trace.at + trace.durationMs] : [],
  )
  const skew =
    ends.length === 0 ? before : receivedAt - ends.reduce((last, at) => Math.max(last, at))
  return traces.reduce((least, { at }) => Math.min(least, receivedAt - at), skew)
}

/** Drops the oldest calls: whole trees that are over first, so that none loses its root. */
function trim(calls: Map<string, LoggedCall>, limit: number): number {
  const before = calls.size
  if (before <= limit) return 0
  const { roots, within } = toForest(calls.values())
  // The newest root comes first.
  for (const root of roots.toReversed()) {
    if (calls.size <= limit) break
    const tree = within(root)
    if (tree.some(({ state }) => state === "running")) continue
    for (const { key } of tree) calls.delete(key)
  }
  for (const key of calls.keys()) {
    if (calls.size <= limit) break
    calls.delete(key)
  }
  return before - calls.size
}
