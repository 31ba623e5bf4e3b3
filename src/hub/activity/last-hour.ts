const MINUTES = 60
/** Upper bound of the first bucket of durations, in milliseconds; each further one is larger by `FACTOR`. */
const FIRST_BOUND = 0.1
const FACTOR = Math.SQRT2
/** The last bucket has everything above 70 seconds. */
const BUCKETS = 40
/** Calls, failed calls, and the buckets. */
const WIDTH = 2 + BUCKETS

/** Calls of some time. Percentiles are estimates, at most a fifth away. */
export interface LoadStats {
  readonly calls: number
  readonly errors: number
  readonly latencyMs: { readonly p50: number; readonly p90: number; readonly p99: number }
}

/** Calls of the last hour. */
export interface HourStats extends LoadStats {
  /** One entry per minute, oldest first; the last is the current minute. */
  readonly minutes: readonly LoadStats[]
}

/** Counts calls by minute, in 10 KiB. */
export class LastHour {
  readonly #counts = new Uint32Array(MINUTES * WIDTH)
  #newest = Number.NEGATIVE_INFINITY

  /** `durationMs` is absent for calls whose duration says nothing. */
  add(now: number, isFailed: boolean, durationMs: number | undefined): void {
    this.#moveTo(now)
    const at = slotOf(this.#newest) * WIDTH
    const counts = this.#counts
    counts[at] = (counts[at] ?? 0) + 1
    if (isFailed) counts[at + 1] = (counts[at + 1] ?? 0) + 1
    if (durationMs === undefined) return
    const bucket = at + 2 + bucketOf(durationMs)
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }

  stats(now: number): HourStats {
    this.#moveTo(now)
    const minutes = Array.from({ length: MINUTES }, (_, index) => {
      const at = slotOf(this.#newest + 1 + index) * WIDTH
      return summaryOf(this.#counts.subarray(at, at + WIDTH))
    })
    return { ...this.total(now), minutes }
  }

  /** The same without the minutes, which is much cheaper. */
  total(now: number): LoadStats {
    this.#moveTo(now)
    const total = new Uint32Array(WIDTH)
    for (let at = 0; at < this.#counts.length; at++) {
      const place = at % WIDTH
      total[place] = (total[place] ?? 0) + (this.#counts[at] ?? 0)
    }
    return summaryOf(total)
  }

  /** Clears the minutes that have passed since the newest one. Steps back in time are ignored. */
  #moveTo(now: number): void {
    const minute = Math.floor(now / 60_000)
    const first = Math.max(this.#newest + 1, minute - MINUTES + 1)
    for (let passed = first; passed <= minute; passed++) {
      const at = slotOf(passed) * WIDTH
      this.#counts.fill(0, at, at + WIDTH)
    }
    this.#newest = Math.max(this.#newest, minute)
  }
}

function slotOf(minute: number): number {
  return ((minute % MINUTES) + MINUTES) % MINUTES
}

function bucketOf(durationMs: number): number {
  const bucket = Math.ceil(Math.log(durationMs / FIRST_BOUND) / Math.log(FACTOR))
  return Math.min(BUCKETS - 1, Math.max(0, Number.isFinite(bucket) ? bucket : 0))
}

function summaryOf(counts: Uint32Array): LoadStats {
  const [calls = 0, errors = 0, ...buckets] = counts
  const measured = buckets.reduce((sum, count) => sum + count, 0)
  const at = (part: number): number => {
    const rank = Math.ceil(measured * part)
    let seen = 0
    const bucket = buckets.findIndex((count) => (seen += count) >= rank)
    // The geometric middle of the bucket.
    const value = rank === 0 ? 0 : FIRST_BOUND * FACTOR ** (bucket - 0.5)
    return Number(value.toPrecision(3))
  }
  return { calls, errors, latencyMs: { p50: at(0.5), p90: at(0.9), p99: at(0.99) } }
}
