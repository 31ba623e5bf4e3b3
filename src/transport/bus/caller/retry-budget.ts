/** A success earns a tenth of a repeat. */
const TENTHS = 10

/**
 * Pays for repeats, so that they stay a small part of all calls.
 *
 * Without it, workers that are slow to accept get every call several times, and are slower still.
 */
export class RetryBudget {
  readonly #most: number
  #tenths: number
  /** Repeats that could not be paid for. */
  denied = 0

  constructor(most: number) {
    this.#most = most * TENTHS
    this.#tenths = this.#most
  }

  /** Repeats that are paid for. */
  get left(): number {
    return Math.floor(this.#tenths / TENTHS)
  }

  /** Pays for one, if there is enough. */
  take(): boolean {
    if (this.#tenths < TENTHS) {
      this.denied++
      return false
    }
    this.#tenths -= TENTHS
    return true
  }

  earn(): void {
    if (this.#tenths < this.#most) this.#tenths++
  }
}
