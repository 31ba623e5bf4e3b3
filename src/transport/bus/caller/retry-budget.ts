/** A success earns a tenth of a retry. */
const TENTHS = 10
/** Without any left, one retry per interval is still allowed; unused ones add up to at most a second's. */
const INTERVAL_MS = 100
const MAX_UNUSED_MS = 1000

/**
 * Limits retries to a small part of all calls, and to ten per second once they are used up.
 *
 * Without it, slow workers would get every call several times, and become slower still. Without the ten per second,
 * calls of a caller that has no others would wait for successes that never come.
 */
export class RetryBudget {
  readonly #max: number
  #tenths: number
  /** When the retry before the next one of an empty budget was taken. */
  #takenAt = 0
  /** Retries that were denied. */
  denied = 0

  constructor(max: number) {
    this.#max = max * TENTHS
    this.#tenths = this.#max
  }

  /** Retries that are left. */
  get left(): number {
    return Math.floor(this.#tenths / TENTHS)
  }

  /** Takes one retry, if any is left. */
  take(now: number): boolean {
    if (this.#tenths >= TENTHS) {
      this.#tenths -= TENTHS
      this.#takenAt = now
      return true
    }
    if (this.#max > 0 && now - this.#takenAt >= INTERVAL_MS) {
      this.#takenAt = Math.max(this.#takenAt, now - MAX_UNUSED_MS) + INTERVAL_MS
      return true
    }
    this.denied++
    return false
  }

  earn(): void {
    if (this.#tenths < this.#max) this.#tenths++
  }
}
