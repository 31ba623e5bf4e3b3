import type { Journal, JournalEntry } from "./journal.ts"
import type { CallerRecords, CallRecord, RecordedError, StreamRecord } from "./records.ts"

/** The result of comparing the journal of all workers with the records of all callers. */
export interface AuditReport {
  readonly calls: number
  readonly streams: number
  readonly ok: number
  /** Ended with an error. */
  readonly failed: number
  /** The number of errors, by code. */
  readonly codes: Readonly<Record<string, number>>
  readonly hung: readonly string[]
  /** Calls that are not idempotent and ran more than once. */
  readonly twice: readonly string[]
  /** Idempotent calls that ran more than once, as they may. */
  readonly repeated: number
  /** Wrong reports to callers, as sentences. */
  readonly untrue: readonly string[]
  /** Calls that began after their callers had received an error. */
  readonly startedLate: number
  /** Calls that completed, although their callers received an error. */
  readonly lost: number
  /** The longest time by which a call settled after its deadline, in milliseconds. */
  readonly overdue: number
  readonly latency: Latency
}

/** The latency of successful calls, in milliseconds. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

interface Run {
  readonly worker: string
  readonly startedAt: number
  endedAt: number | undefined
}

type Runs = ReadonlyMap<string, Run>

/** Compares journal and records. An answer counts only if a worker's journal confirms it. */
export function audit(journal: Journal, { calls, streams }: CallerRecords): AuditReport {
  const byCall = runsByCall(journal.entries)
  const failures = [...calls, ...streams].map(({ error }) => error).filter(isThere)
  const known = new Set([...calls, ...streams].map(({ id }) => id))
  const settled = calls.filter(({ settledAt }) => settledAt !== undefined)
  const ran = (call: CallRecord): Runs => byCall.get(call.id) ?? NONE
  return {
    calls: calls.length,
    streams: streams.length,
    ok: calls.filter(isOk).length + streams.filter(isComplete).length,
    failed: failures.length,
    codes: counted(failures.map(({ code }) => code)),
    hung: [...calls, ...streams].filter(({ settledAt }) => settledAt === undefined).map(idOf),
    twice: [
      ...calls.filter((call) => !call.isIdempotent && ran(call).size > 1).map(idOf),
      ...streams.filter(({ id }) => (byCall.get(id)?.size ?? 0) > 1).map(idOf),
    ],
    repeated: calls.filter((call) => call.isIdempotent && ran(call).size > 1).length,
    untrue: [
      ...journal.torn.map((line) => `The journal has a line that cannot be read: ${line}`),
      ...[...byCall.keys()]
        .filter((id) => !known.has(id))
        .map((id) => `${id} ran, but no caller has a record of it.`),
      ...calls.flatMap((call) => callIssues(call, ran(call)).map((issue) => `${call.id} ${issue}`)),
      ...streams.flatMap((stream) =>
        streamIssues(stream, byCall.get(stream.id) ?? NONE).map((issue) => `${stream.id} ${issue}`),
      ),
    ],
    startedLate: settled.filter((call) => call.error !== undefined && startsAfter(ran(call), call))
      .length,
    lost: settled.filter((call) => call.error !== undefined && hasEnd(ran(call))).length,
    overdue: Math.max(0, ...settled.map((call) => tookOf(call) - call.timeout)),
    latency: latencyOf(calls.filter(isOk).map(tookOf)),
  }
}

/** The median, the 99th percentile and the maximum. */
export function latencyOf(times: readonly number[]): Latency {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 }
}

/** How long it took to settle a call; `0` for one that hangs. */
export function tookOf({ sentAt, settledAt }: Pick<CallRecord, "sentAt" | "settledAt">): number {
  return (settledAt ?? sentAt) - sentAt
}

const NONE: Runs = new Map()

/** The issues in the record of a call. */
function callIssues(call: CallRecord, runs: Runs): string[] {
  const issues: string[] = []
  if (call.settled > 1) issues.push(`was settled ${call.settled} times.`)
  if (call.settledAt === undefined) return issues
  if (call.error !== undefined) return [...issues, ...errorIssues(call, call.error, runs)]
  if (call.isWrong === true) issues.push("succeeded with an answer that is not its own.")
  const run = call.run === undefined ? undefined : runs.get(call.run)
  if (runs.size === 0) issues.push("succeeded, but never ran.")
  else if (run === undefined)
    issues.push(`succeeded with the answer of another call (${call.run}).`)
  else if (run.endedAt === undefined) issues.push(`succeeded, but run ${call.run} did not end.`)
  else if (run.worker !== call.worker) issues.push(`succeeded on ${call.worker}, not where it ran.`)
  return issues
}

function errorIssues(call: CallRecord, error: RecordedError, runs: Runs): string[] {
  const { code, mayHaveExecuted, retryable } = error
  const issues: string[] = []
  const where = [...runs.values()].map(({ worker }) => worker).join(", ")
  if (mayHaveExecuted === undefined || retryable === undefined) {
    issues.push(`failed with what is no CallError: ${code} ${error.message}`)
  }
  if (mayHaveExecuted === false && runs.size > 0) {
    const when = startsAfter(runs, call) ? "and began after that" : "and had run"
    issues.push(`failed with ${code}, "did not run", ${when} on ${where}.`)
  }
  if (retryable === true && !call.isIdempotent && runs.size > 0) {
    issues.push(`failed with ${code}, "may be repeated", and had an effect on ${where}.`)
  }
  return issues
}

function streamIssues(stream: StreamRecord, runs: Runs): string[] {
  const issues: string[] = []
  const { gaps, repeats, wrong, received, expected, error } = stream
  if (gaps > 0) issues.push(`has ${gaps} items missing.`)
  if (repeats > 0) issues.push(`has ${repeats} items twice.`)
  if (wrong > 0) issues.push(`has ${wrong} items that are not its own.`)
  if (stream.isComplete === true && received !== expected) {
    issues.push(`ended in order after ${received} of ${expected} items.`)
  }
  if (received > 0 && runs.size === 0) issues.push("has items, and never ran.")
  if (error?.mayHaveExecuted === false && runs.size > 0) {
    issues.push(`failed with ${error.code}, "did not run", and had run.`)
  }
  if (error !== undefined && error.mayHaveExecuted === undefined) {
    issues.push(`failed with what is no CallError: ${error.code} ${error.message}`)
  }
  return issues
}

function runsByCall(entries: readonly JournalEntry[]): ReadonlyMap<string, Map<string, Run>> {
  const byCall = new Map<string, Map<string, Run>>()
  for (const { what, call, run, worker, at } of entries) {
    const runs = byCall.get(call) ?? new Map<string, Run>()
    byCall.set(call, runs)
    const known = runs.get(run)
    // An end without a start also counts as a run, so that no run is overlooked.
    if (known === undefined) {
      runs.set(run, { worker, startedAt: at, endedAt: what === "end" ? at : undefined })
    } else if (what === "end") known.endedAt = at
  }
  return byCall
}

function startsAfter(runs: Runs, { settledAt }: CallRecord): boolean {
  return (
    settledAt !== undefined && [...runs.values()].some(({ startedAt }) => startedAt > settledAt)
  )
}

function hasEnd(runs: Runs): boolean {
  return [...runs.values()].some(({ endedAt }) => endedAt !== undefined)
}

function isOk({ settledAt, error }: CallRecord): boolean {
  return settledAt !== undefined && error === undefined
}

function isComplete(stream: StreamRecord): boolean {
  return stream.isComplete === true || stream.isLeft === true
}

function idOf({ id }: { readonly id: string }): string {
  return id
}

function isThere<TValue>(value: TValue | undefined): value is TValue {
  return value !== undefined
}

function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
