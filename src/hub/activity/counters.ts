import type { CallEnded, CallStarted, CallTrace } from "../../engine/observe.ts"
import type { Clock } from "../../internal/platform.ts"
import { PerSecond, SECONDS } from "./per-second.ts"
import { RecentDurations } from "./recent-durations.ts"
import { wallTimeOf } from "../../internal/clock.ts"

/** Counters of a hub since it is served; calls within calls count too. */
export interface HubStats {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** Calls that began. */
  readonly calls: number
  readonly running: number
  /** How often calls failed, by code. Those that nobody waited for are none. */
  readonly errors: Readonly<Record<string, number>>
  /** Of the last minute. */
  readonly callsPerSecond: number
  /** Of the last minute's queries and mutations: a subscription lasts as long as somebody watches. */
  readonly latencyMs: { readonly p50: number; readonly p90: number; readonly p99: number }
  /** Calls that began in each of the last 60 seconds, the oldest first. */
  readonly history: readonly number[]
  /** The last calls that ended, the newest first; at most 200. */
  readonly recent: readonly CallTrace[]
}

const MOST_RECENT = 200
const MOST_RUNNING = 10_000
const MOST_CODES = 100
const MOST_CODE_LENGTH = 100
/** Where codes are counted for which there is no room. */
const OTHER = "OTHER"

/** Counts calls. What it keeps has a bound, however many calls there are. */
export class CallCounters {
  readonly #clock: Clock
  readonly #startedAt: number
  /** The same as a date. */
  readonly #startedOn: number
  readonly #perSecond: PerSecond
  readonly #durations = new RecentDurations()
  readonly #errors = new Map<string, number>()
  readonly #running = new Map<string, { readonly started: CallStarted; count: number }>()
  /** Those that run beyond what is kept. */
  #untracked = 0
  #tracked = 0
  #calls = 0
  /** The oldest first. */
  readonly #recent: CallEnded[] = []

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedAt = clock.now()
    this.#startedOn = wallTimeOf(clock)
    this.#perSecond = new PerSecond(this.#startedAt)
  }

  add(trace: CallTrace): void {
    if (trace.phase === "start") this.#begin(trace)
    else this.#end(trace)
  }

  /** Calls that run, the newest last. */
  running(most: number): CallStarted[] {
    return Array.from(this.#running.values(), ({ started }) => started).slice(-most)
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
      recent: this.#recent.slice(-MOST_RECENT).toReversed(),
    }
  }

  #begin(started: CallStarted): void {
    this.#calls++
    this.#perSecond.add(this.#clock.now())
    const same = this.#running.get(started.requestId)
    if (same === undefined && this.#running.size >= MOST_RUNNING) {
      this.#untracked++
      return
    }
    this.#tracked++
    // Clients choose ids, and may choose one twice.
    if (same !== undefined) same.count++
    else this.#running.set(started.requestId, { started, count: 1 })
  }

  #end(ended: CallEnded): void {
    if (!this.#wasRunning(ended.requestId)) return
    this.#recent.push(ended)
    // Now and then: moving all of them up by one with each call is what it would cost most.
    if (this.#recent.length >= 2 * MOST_RECENT) this.#recent.splice(0, MOST_RECENT)
    if (ended.outcome === "error") this.#countError(ended.code ?? "UNKNOWN_ERROR")
    if (ended.outcome === "aborted" || ended.type === "subscription") return
    this.#durations.add(this.#clock.now(), ended.durationMs)
  }

  /** Whether its beginning was seen; it is no longer running then. */
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

  #countError(given: string): void {
    const code = given.slice(0, MOST_CODE_LENGTH)
    const key = this.#errors.has(code) || this.#errors.size < MOST_CODES ? code : OTHER
    this.#errors.set(key, (this.#errors.get(key) ?? 0) + 1)
  }
}
