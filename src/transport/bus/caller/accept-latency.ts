/** How much of a new latency counts: rising ones soon, falling ones slowly. */
const RISE = 0.25
const FALL = 0.05
const FACTOR = 4

/** How long workers take to accept, and how long to wait for one therefore. */
export class AcceptLatency {
  readonly #least: number
  #smoothed = 0

  constructor(least: number) {
    this.#least = least
  }

  observe(milliseconds: number): void {
    const change = milliseconds - this.#smoothed
    this.#smoothed += change * (change > 0 ? RISE : FALL)
  }

  /** Milliseconds to wait; longer where a call has been repeated more than once already. */
  patience(repeats: number): number {
    const base = Math.max(this.#least, FACTOR * this.#smoothed)
    return base * 2 ** Math.max(0, repeats - 1)
  }
}
