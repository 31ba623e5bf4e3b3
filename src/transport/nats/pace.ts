import type { Clock } from "../../internal/platform.ts"

/** Milliseconds after which it is asked again whether to wait on, so that closing need not wait. */
const SLICE = 100
/** Milliseconds between two attempts, at the most, of those who are in a hurry. */
const SHORT = 500
/** How many of those who lose a broker are in no hurry, */
const PATIENT_SHARE = 0.05
/** and after how many milliseconds they stop to be in one. */
const PATIENT_AFTER = 1500

/**
 * When to try again: soon, and not all at once.
 *
 * Every attempt is made within half a second of the last. Where a broker is gone for longer, one in twenty of
 * those who miss it comes every few seconds only: a crowd is back over more than two seconds, and whoever is
 * alone is almost certainly back at once.
 */
export class Pace {
  readonly #clock: Clock
  readonly #random: () => number
  /** Since when the broker is out of reach. */
  #since: number | undefined
  #isPatient = false
  #triedAt = 0
  #dueAt = 0

  constructor(clock: Clock, random: () => number = Math.random) {
    this.#clock = clock
    this.#random = random
  }

  /**
   * The broker is there: the next time it is not is another one.
   *
   * The pause after the last attempt holds all the same, a short one: a broker that takes connections and drops
   * them would otherwise be asked without end.
   */
  reached(): void {
    this.#since = undefined
    this.#dueAt = Math.min(this.#dueAt, this.#triedAt + SHORT)
  }

  /** Milliseconds between two attempts. */
  draw(): number {
    const now = this.#clock.now()
    if (this.#since === undefined) {
      this.#since = now
      this.#isPatient = this.#random() < PATIENT_SHARE
    }
    const isLong = now - this.#since >= PATIENT_AFTER
    // Less than callers wait for workers to come back, or they would report that nobody serves an operation.
    return this.#isPatient && isLong ? 2200 + 500 * this.#random() : 200 + 300 * this.#random()
  }

  /**
   * Milliseconds that have to be over since the last attempt; 0 to try now.
   *
   * The client asks before each attempt and after each wait, and counts from its last attempt: what was drawn
   * stays until it is over.
   */
  next(): number {
    const now = this.#clock.now()
    if (now >= this.#dueAt) {
      this.#triedAt = now
      this.#dueAt = now + this.draw()
      return 0
    }
    return now - this.#triedAt + Math.min(SLICE, this.#dueAt - now)
  }
}
