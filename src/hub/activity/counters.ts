import type { CallEnded, CallStarted, CallTrace } from "../../engine/observe.ts"
import type { Clock } from "../../internal/platform.ts"
import { wallTimeOf } from "../../internal/clock.ts"

/** Counters of a hub since it was started; nested calls count too. */
export interface HubStats {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** Calls that were started. */
  readonly calls: number
  readonly running: number
  /** Failures by code; one that passes through nested calls counts once. Calls that their caller cancelled do not count. */
  readonly errors: Readonly<Record<string, number>>
  /** Of the last minute. */
  readonly callsPerSecond: number
  /** Of the last minute's queries and mutations; a subscription lasts as long as its reader stays. */
  readonly latencyMs: { readonly p50: number; readonly p90: number; readonly p99: number }
  /** Calls started in each of the last 60 seconds, oldest first. */
  readonly history: readonly number[]
  /** Calls that ended last, newest first; at most 200. */
  readonly recent: readonly CallTrace[]
}

/** Calls that are listed, and calls of a source that count for its error rate and latencies. */
const MAX_RECENT = 200
const MAX_RUNNING = 10_000
const MAX_CODES = 100
const MAX_CODE_LENGTH = 100
/** Counts all codes beyond `MAX_CODES`. */
const OTHER = "OTHER"

interface RunningCall {
  readonly started: CallStarted
  count: number
  /** The codes of calls that it made and that failed. */
  failures?: Set<string>
}

/** Counts calls in bounded memory. */
export class CallCounters {
  readonly #clock: Clock
  readonly #startedAt: number
  /** The same as a date. */
  readonly #startedOn: number
  readonly #perSecond: PerSecond
  readonly #durations = new RecentDurations()
  readonly #errors = new Map<string, number>()
  readonly #running = new Map<string, RunningCall>()
  /** Running calls beyond `MAX_RUNNING`, which are only counted. */
  #untracked = 0
  #tracked = 0
  #calls = 0
  /** Oldest first. */
  readonly #recent: CallEnded[] = []

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedAt = clock.now()
    this.#startedOn = wallTimeOf(clock)
    this.#perSecond = new PerSecond(this.#startedAt)
  }

  /** `false` for the end of a call whose start was not seen. */
  add(trace: CallTrace): boolean {
    if (trace.phase === "end") return this.#end(trace)
    this.#begin(trace)
    return true
  }

  /** Running calls, newest last. */
  running(limit: number): CallStarted[] {
    return Array.from(this.#running.values(), ({ started }) => started).slice(-limit)
  }

  stats(): HubStats {
    const now = this.#clock.now()
    const history = this.#perSecond.until(now)
    const seconds = Math.min(SECONDS, Math.max(1, (now - this.#startedAt) / 1000))
    const lastMinute = history.reduce((sum, count) => sum + count, 0)
    return {
      startedAt: this.#startedOn,
      calls: this.#calls,
      running: this.#tracked + this.#untracked,
      errors: Object.fromEntries(this.#errors),
      callsPerSecond: Math.round((lastMinute / seconds) * 100) / 100,
      latencyMs: this.#durations.percentiles(now - SECONDS * 1000),
      history,
      recent: this.#recent.slice(-MAX_RECENT).toReversed(),
    }
  }

  #begin(started: CallStarted): void {
    this.#calls++
    this.#perSecond.add(this.#clock.now())
    const same = this.#running.get(started.requestId)
    if (same === undefined && this.#running.size >= MAX_RUNNING) {
      this.#untracked++
      return
    }
    this.#tracked++
    // Clients choose request ids, so an id can occur twice.
    if (same !== undefined) same.count++
    else this.#running.set(started.requestId, { started, count: 1 })
  }

  #end(ended: CallEnded): boolean {
    const { failures } = this.#running.get(ended.requestId) ?? {}
    if (!this.#wasRunning(ended.requestId)) return false
    this.#recent.push(ended)
    // Trimmed in batches: removing one item per call would be the most expensive part of counting.
    if (this.#recent.length >= 2 * MAX_RECENT) this.#recent.splice(0, MAX_RECENT)
    if (ended.outcome === "error") {
      const code = ended.code ?? "UNKNOWN_ERROR"
      const parent = this.#running.get(ended.parentRequestId ?? "")
      if (parent !== undefined) (parent.failures ??= new Set()).add(code)
      // A call that fails with the error of one that it made is the same failure.
      if (failures?.has(code) !== true) this.#countError(code)
    }
    const isMeasured = ended.outcome !== "aborted" && ended.type !== "subscription"
    if (isMeasured) this.#durations.add(this.#clock.now(), ended.durationMs)
    return true
  }

  /** Removes a call from the running ones; `false` when its start was not seen. */
  #wasRunning(requestId: string): boolean {
    const entry = this.#running.get(requestId)
    if (entry !== undefined) {
      this.#tracked--
      if (--entry.count === 0) this.#running.delete(requestId)
      return true
    }
    if (this.#untracked === 0) return false
    this.#untracked--
    return true
  }

  #countError(errorCode: string): void {
    const code = errorCode.slice(0, MAX_CODE_LENGTH)
    const key = this.#errors.has(code) || this.#errors.size < MAX_CODES ? code : OTHER
    this.#errors.set(key, (this.#errors.get(key) ?? 0) + 1)
  }
}

/** Maximum number of durations kept; in a busy minute only the last ones count. */
const MAX_DURATIONS = 4096

/** Durations of the last calls. */
class RecentDurations {
  readonly #endedAt: number[] = []
  readonly #durations: number[] = []
  #next = 0

  add(endedAt: number, durationMs: number): void {
    this.#endedAt[this.#next] = endedAt
    this.#durations[this.#next] = durationMs
    this.#next = (this.#next + 1) % MAX_DURATIONS
  }

  /** Percentiles of the calls that ended since a time; 0 when there were none. */
  percentiles(since: number): HubStats["latencyMs"] {
    return percentilesOf(
      this.#durations.filter((_, index) => (this.#endedAt[index] as number) > since),
    )
  }
}

/** Length of the history, in seconds. */
const SECONDS = 60

/** Counts events in each of the last `SECONDS` seconds. */
class PerSecond {
  readonly #counts = Array.from({ length: SECONDS }, () => 0)
  /** The second of the newest count. */
  #last: number

  constructor(now: number) {
    this.#last = secondOf(now)
  }

  add(at: number): void {
    this.#moveTo(secondOf(at))
    const slot = slotOf(this.#last)
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1
  }

  /** The count of each second, oldest first; the last one is the current second. */
  until(now: number): number[] {
    this.#moveTo(secondOf(now))
    return Array.from(
      this.#counts,
      (_, index) => this.#counts[slotOf(this.#last + 1 + index)] as number,
    )
  }

  /** Moves to a second and clears the seconds in between. Small steps back in time are ignored. */
  #moveTo(second: number): void {
    const ahead = second - this.#last
    if (ahead <= 0 && ahead > -SECONDS) return
    const empty = ahead < 0 ? SECONDS : Math.min(ahead, SECONDS)
    for (let index = 0; index < empty; index++) this.#counts[slotOf(second - index)] = 0
    this.#last = second
  }
}

function secondOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

function slotOf(second: number): number {
  return ((second % SECONDS) + SECONDS) % SECONDS
}

/** The calls of one source since the hub was started. */
export interface SourceCalls {
  readonly calls: number
  /** Failed calls. Calls that their caller cancelled count in neither number. */
  readonly errors: number
  /** The share of failed ones among the last 200, from 0 to 1. */
  readonly errorRate: number
  /** Percentiles of the last 200 queries and mutations. */
  readonly latencyMs: { readonly p50: number; readonly p90: number; readonly p99: number }
}

/** Maximum number of sources; names of removed ones are dropped. */
const MAX_SOURCES = 1000

interface Counted {
  calls: number
  errors: number
  /** Whether each of the last calls failed, in a ring. */
  readonly failed: boolean[]
  readonly durations: number[]
}

/** Counts the calls of each source in bounded memory. */
export class SourceCounters {
  readonly #bySource = new Map<string, Counted>()

  add(source: string, { outcome, type, durationMs }: CallEnded): void {
    if (outcome === "aborted") return
    const counted = this.#of(source)
    const isFailed = outcome === "error"
    counted.failed[counted.calls % MAX_RECENT] = isFailed
    // A subscription lasts as long as its reader stays.
    if (type !== "subscription") {
      counted.durations.push(durationMs)
      if (counted.durations.length >= 2 * MAX_RECENT) counted.durations.splice(0, MAX_RECENT)
    }
    counted.calls++
    if (isFailed) counted.errors++
  }

  /** The calls of a source. */
  of(source: string): SourceCalls {
    const { calls, errors, failed, durations } = this.#bySource.get(source) ?? NONE
    return {
      calls,
      errors,
      errorRate: failed.length === 0 ? 0 : failed.filter(Boolean).length / failed.length,
      latencyMs: percentilesOf(durations.slice(-MAX_RECENT)),
    }
  }

  #of(source: string): Counted {
    const existing = this.#bySource.get(source)
    if (existing !== undefined) return existing
    const counted: Counted = { calls: 0, errors: 0, failed: [], durations: [] }
    this.#bySource.set(source, counted)
    for (const oldest of this.#bySource.keys()) {
      if (this.#bySource.size <= MAX_SOURCES) break
      this.#bySource.delete(oldest)
    }
    return counted
  }
}

const NONE: Counted = { calls: 0, errors: 0, failed: [], durations: [] }

/** Percentiles of durations; 0 when there are none. */
function percentilesOf(durations: readonly number[]): SourceCalls["latencyMs"] {
  const sorted = durations.toSorted((left, right) => left - right)
  const at = (part: number): number => sorted[Math.ceil(sorted.length * part) - 1] ?? 0
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) }
}
