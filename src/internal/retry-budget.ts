/** A success earns a tenth of a retry. */
const TENTHS = 10
/**
 * If none is left, one retry per interval may still be allowed; unused ones accumulate for at most a second.
 */
const INTERVAL_MS = 100
const MAX_UNUSED_MS = 1000

/** What an exhausted budget allows. */
export interface RetryBudgetOptions {
  /** Ten retries per second, so that a caller without successes can continue; otherwise none. */
  readonly tricklesWhenEmpty: boolean
}

/**
 * Limits retries to a small part of all calls: one for ten successes, and some in advance.
 *
 * Without a limit, slow workers would get every call several times and become even slower.
 */
export class RetryBudget {
  readonly #max: number
  readonly #trickles: boolean
  #tenths: number
  /** When the retry before the next one of an empty budget was taken. */
  #takenAt = 0
  /** Retries that were denied. */
  denied = 0

  constructor(max: number, { tricklesWhenEmpty }: RetryBudgetOptions) {
    this.#max = max * TENTHS
    this.#trickles = tricklesWhenEmpty && max > 0
    this.#tenths = this.#max
  }

  /** Remaining retries. */
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
    if (this.#trickles && now - this.#takenAt >= INTERVAL_MS) {
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
