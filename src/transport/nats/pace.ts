import type { Clock } from "../../internal/platform.ts"

/** Waits are split into slices of this length, in milliseconds, so that closing need not wait. */
const SLICE_MS = 100
/** The maximum pause between quick attempts, in milliseconds. */
const MAX_SHORT_MS = 500
/** The share of clients that switch to slow attempts, */
const SLOW_SHARE = 0.05
/** and after which outage they do so, in milliseconds. */
const SLOW_AFTER_MS = 1500

/**
 * Decides when to reconnect: soon, but not all clients at once.
 *
 * Attempts follow each other within half a second. During a longer outage, one in twenty clients tries only every few
 * seconds: many clients then come back spread over more than two seconds, and a single one almost certainly at once.
 */
export class Pace {
  readonly #clock: Clock
  readonly #random: () => number
  /** Since when the broker is unreachable. */
  #since: number | undefined
  #isSlow = false
  #triedAt = 0
  #dueAt = 0

  constructor(clock: Clock, random: () => number = Math.random) {
    this.#clock = clock
    this.#random = random
  }

  /**
   * Ends the outage.
   *
   * A short pause after the last attempt remains: a broker that accepts connections and drops them would otherwise be
   * tried without any pause.
   */
  reached(): void {
    this.#since = undefined
    this.#dueAt = Math.min(this.#dueAt, this.#triedAt + MAX_SHORT_MS)
  }

  /** Draws the pause before the next attempt, in milliseconds. */
  draw(): number {
    const now = this.#clock.now()
    if (this.#since === undefined) {
      this.#since = now
      this.#isSlow = this.#random() < SLOW_SHARE
    }
    const isLong = now - this.#since >= SLOW_AFTER_MS
    // Shorter than callers wait for workers after an outage; otherwise they would report that no worker serves it.
    return this.#isSlow && isLong ? 2200 + 500 * this.#random() : 200 + 300 * this.#random()
  }

  /**
   * The required pause since the last attempt, in milliseconds; 0 to try now.
   *
   * The client asks before each attempt and after each wait, and counts from its last attempt: a drawn pause stays until
   * it is over.
   */
  next(): number {
    const now = this.#clock.now()
    if (now >= this.#dueAt) {
      this.#triedAt = now
      this.#dueAt = now + this.draw()
      return 0
    }
    return now - this.#triedAt + Math.min(SLICE_MS, this.#dueAt - now)
  }
}
