import { backOff } from "../../../internal/back-off.ts"

/** Weight of a new latency in the average: it rises quickly and falls slowly. */
const RISE = 0.25
const FALL = 0.05
const FACTOR = 4

/** Tracks how long workers take to accept calls, and derives the timeout for it. */
export class AcceptLatency {
  readonly #minimum: number
  #smoothed = 0

  constructor(minimum: number) {
    this.#minimum = minimum
  }

  observe(milliseconds: number): void {
    const change = milliseconds - this.#smoothed
    this.#smoothed += change * (change > 0 ? RISE : FALL)
  }

  /** Milliseconds to wait for a worker to accept; doubles with each repeat after the first. */
  acceptTimeout(repeats: number): number {
    const base = Math.max(this.#minimum, FACTOR * this.#smoothed)
    return repeats <= 1 ? base : backOff(repeats, base, Infinity)
  }
}
