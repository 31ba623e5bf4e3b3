import type { Clock } from "../../platform.ts"

/** Milliseconds after which it is asked again whether to wait on, so that closing need not wait. */
const SLICE = 100

/**
 * When to try again: soon, and not all at once.
 *
 * Most wait for less than half a second. One in twenty waits for up to three, so that those who lost a broker
 * together come back over more than two seconds, and somebody who is alone is almost always back within one.
 */
export function drawWait(random: () => number = Math.random): number {
  return random() < 0.95 ? 200 + 300 * random() : 500 + 2500 * random()
}

/**
 * Tells the client how long to wait before it reconnects.
 *
 * It asks before each attempt and after each wait, and counts from its last attempt: what is drawn has to
 * stay until it is over.
 */
export class Pace {
  readonly #clock: Clock
  readonly #draw: () => number
  #triedAt = 0
  #dueAt = 0

  constructor(clock: Clock, draw: () => number = drawWait) {
    this.#clock = clock
    this.#draw = draw
  }

  /** Milliseconds that have to be over since the last attempt; 0 to try now. */
  next(): number {
    const now = this.#clock.now()
    if (now >= this.#dueAt) {
      this.#triedAt = now
      this.#dueAt = now + this.#draw()
      return 0
    }
    return now - this.#triedAt + Math.min(SLICE, this.#dueAt - now)
  }
}
