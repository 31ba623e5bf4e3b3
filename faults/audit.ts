import type { Journal, JournalEntry } from "./journal.ts"
import type { Told, ToldCall, ToldError, ToldStream } from "./told.ts"

/** The journal of all workers, compared with what the callers were told. */
export interface AuditReport {
  readonly calls: number
  readonly streams: number
  readonly ok: number
  /** Ended with an error. */
  readonly failed: number
  /** How often which error. */
  readonly codes: Readonly<Record<string, number>>
  readonly hung: readonly string[]
  /** Calls that are not idempotent and ran more than once. */
  readonly twice: readonly string[]
  /** Idempotent ones that did, as they may. */
  readonly repeated: number
  /** What is not true, a sentence each. */
  readonly untrue: readonly string[]
  /** Calls that began after their callers had been told that they failed. */
  readonly startedLate: number
  /** Calls that came to their end, while their callers got an error. */
  readonly lost: number
  /** Calls that were settled this much after their deadline, in milliseconds. */
  readonly overdue: number
  readonly latency: Latency
}

/** How long calls took that succeeded, in milliseconds. */
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

/** Compares. Nothing is taken on trust: an answer counts if a worker wrote down that it gave it. */
export function audit(journal: Journal, { calls, streams }: Told): AuditReport {
  const byCall = runsByCall(journal.entries)
  const failures = [...calls, ...streams].map(({ error }) => error).filter(isThere)
  const known = new Set([...calls, ...streams].map(({ id }) => id))
  const settled = calls.filter(({ settledAt }) => settledAt !== undefined)
  const ran = (call: ToldCall): Runs => byCall.get(call.id) ?? NONE
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
        .map((id) => `Nobody called ${id}; it ran.`),
      ...calls.flatMap((call) => callFaults(call, ran(call)).map((fault) => `${call.id} ${fault}`)),
      ...streams.flatMap((stream) =>
        streamFaults(stream, byCall.get(stream.id) ?? NONE).map((fault) => `${stream.id} ${fault}`),
      ),
    ],
    startedLate: settled.filter((call) => call.error !== undefined && startsAfter(ran(call), call))
      .length,
    lost: settled.filter((call) => call.error !== undefined && hasEnd(ran(call))).length,
    overdue: Math.max(0, ...settled.map((call) => tookOf(call) - call.timeout)),
    latency: latencyOf(calls.filter(isOk).map(tookOf)),
  }
}

/** The middle, the hundredth part that took longest, and the longest. */
export function latencyOf(times: readonly number[]): Latency {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 }
}

/** How long it took to settle a call; `0` for one that hangs. */
export function tookOf({ sentAt, settledAt }: Pick<ToldCall, "sentAt" | "settledAt">): number {
  return (settledAt ?? sentAt) - sentAt
}

const NONE: Runs = new Map()

/** What was said of a call and is not so. */
function callFaults(call: ToldCall, runs: Runs): string[] {
  const faults: string[] = []
  if (call.settled > 1) faults.push(`was settled ${call.settled} times.`)
  if (call.settledAt === undefined) return faults
  if (call.error !== undefined) return [...faults, ...errorFaults(call, call.error, runs)]
  if (call.isWrong === true) faults.push("succeeded with an answer that is not its own.")
  const run = call.run === undefined ? undefined : runs.get(call.run)
  if (runs.size === 0) faults.push("succeeded, and never ran.")
  else if (run === undefined)
    faults.push(`succeeded with the answer of no run of it (${call.run}).`)
  else if (run.endedAt === undefined) faults.push(`succeeded, and run ${call.run} did not end.`)
  else if (run.worker !== call.worker) faults.push(`succeeded on ${call.worker}, not where it ran.`)
  return faults
}

function errorFaults(call: ToldCall, error: ToldError, runs: Runs): string[] {
  const { code, mayHaveExecuted, retryable } = error
  const faults: string[] = []
  const where = [...runs.values()].map(({ worker }) => worker).join(", ")
  if (mayHaveExecuted === undefined || retryable === undefined) {
    faults.push(`failed with what is no CallError: ${code} ${error.message}`)
  }
  if (mayHaveExecuted === false && runs.size > 0) {
    const when = startsAfter(runs, call) ? "and began after that" : "and had run"
    faults.push(`failed with ${code}, "did not run", ${when} on ${where}.`)
  }
  if (retryable === true && !call.isIdempotent && runs.size > 0) {
    faults.push(`failed with ${code}, "may be repeated", and had an effect on ${where}.`)
  }
  return faults
}

function streamFaults(stream: ToldStream, runs: Runs): string[] {
  const faults: string[] = []
  const { gaps, repeats, wrong, received, expected, error } = stream
  if (gaps > 0) faults.push(`has ${gaps} items missing.`)
  if (repeats > 0) faults.push(`has ${repeats} items twice.`)
  if (wrong > 0) faults.push(`has ${wrong} items that are not its own.`)
  if (stream.isComplete === true && received !== expected) {
    faults.push(`ended in order after ${received} of ${expected} items.`)
  }
  if (received > 0 && runs.size === 0) faults.push("has items, and never ran.")
  if (error?.mayHaveExecuted === false && runs.size > 0) {
    faults.push(`failed with ${error.code}, "did not run", and had run.`)
  }
  if (error !== undefined && error.mayHaveExecuted === undefined) {
    faults.push(`failed with what is no CallError: ${error.code} ${error.message}`)
  }
  return faults
}

function runsByCall(entries: readonly JournalEntry[]): ReadonlyMap<string, Map<string, Run>> {
  const byCall = new Map<string, Map<string, Run>>()
  for (const { what, call, run, worker, at } of entries) {
    const runs = byCall.get(call) ?? new Map<string, Run>()
    byCall.set(call, runs)
    const known = runs.get(run)
    // An end without a beginning is a run, too: better one too many than one that is overlooked.
    if (known === undefined) {
      runs.set(run, { worker, startedAt: at, endedAt: what === "end" ? at : undefined })
    } else if (what === "end") known.endedAt = at
  }
  return byCall
}

function startsAfter(runs: Runs, { settledAt }: ToldCall): boolean {
  return (
    settledAt !== undefined && [...runs.values()].some(({ startedAt }) => startedAt > settledAt)
  )
}

function hasEnd(runs: Runs): boolean {
  return [...runs.values()].some(({ endedAt }) => endedAt !== undefined)
}

function isOk({ settledAt, error }: ToldCall): boolean {
  return settledAt !== undefined && error === undefined
}

function isComplete(stream: ToldStream): boolean {
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
