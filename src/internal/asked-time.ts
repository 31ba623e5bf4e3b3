/** The longest time for which open questions stop a clock, in milliseconds. */
export const MAX_ASKED_MS = 600_000

/** Stops a clock while questions are open: its deadline moves by as long as they take, up to a limit. */
export class AskedTime {
  #open = 0
  #since = 0

  /** Milliseconds to add to the deadline when a question was asked (1) or has ended (-1). */
  shift(by: 1 | -1, now: number): number {
    this.#open += by
    if (this.#open !== (by === 1 ? 1 : 0)) return 0
    if (by === -1) return Math.min(now - this.#since, MAX_ASKED_MS) - MAX_ASKED_MS
    this.#since = now
    return MAX_ASKED_MS
  }
}
