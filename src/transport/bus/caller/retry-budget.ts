/** A success earns a tenth of a retry. */
const TENTHS = 10

/**
 * Limits retries to a small part of all calls.
 *
 * Without it, slow workers would get every call several times, and become slower still.
 */
export class RetryBudget {
  readonly #max: number
  #tenths: number
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
  take(): boolean {
    if (this.#tenths < TENTHS) {
      this.denied++
      return false
    }
    this.#tenths -= TENTHS
    return true
  }

  earn(): void {
    if (this.#tenths < this.#max) this.#tenths++
  }
}
