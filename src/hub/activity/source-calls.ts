import type { CallEnded } from "../../engine/observe.ts"

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

/** Number of recent calls of a source that count for its error rate and latencies. */
const MAX_RECENT = 200
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
export function percentilesOf(durations: readonly number[]): SourceCalls["latencyMs"] {
  const sorted = durations.toSorted((left, right) => left - right)
  const at = (part: number): number => sorted[Math.ceil(sorted.length * part) - 1] ?? 0
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) }
}
