import type { Clock } from "../../../internal/platform.ts"
import { backOff } from "../../../internal/back-off.ts"

const WINDOW = 60_000
const MAX_ENDS = 5

/** When an ended process may be restarted: at once, after 1 s, 2 s, 4 s; after five ends in a minute, not at all. */
export class Restarts {
  readonly #clock: Clock
  #ends: number[] = []
  #isGivenUp = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** It is not restarted until `reset`. */
  get isGivenUp(): boolean {
    return this.#isGivenUp
  }

  /** The process ended, or could not be started. */
  ended(): void {
    const now = this.#clock.now()
    this.#ends = [...this.#ends.filter((at) => now - at < WINDOW), now]
    if (this.#ends.length >= MAX_ENDS) this.#isGivenUp = true
  }

  /** Milliseconds until it may be started. */
  get delay(): number {
    const now = this.#clock.now()
    const recent = this.#ends.filter((at) => now - at < WINDOW)
    const last = recent.at(-1)
    if (last === undefined || recent.length === 1) return 0
    return Math.max(0, last + backOff(recent.length - 1, 1000, 30_000) - now)
  }

  reset(): void {
    this.#ends = []
    this.#isGivenUp = false
  }
}
