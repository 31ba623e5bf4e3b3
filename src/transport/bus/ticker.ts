import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"

/** Calls back now and then, and knows when this process itself had stood still. */
export class Ticker {
  readonly #clock: Clock
  readonly #interval: number
  readonly #onTick: (stalledFor: number) => void
  #timer: unknown
  #isRunning = false
  #last = 0

  /** `onTick` gets the milliseconds by which it is late, 0 unless that is more than an interval. */
  constructor(clock: Clock, interval: number, onTick: (stalledFor: number) => void) {
    this.#clock = clock
    this.#interval = Math.max(interval, 1)
    this.#onTick = onTick
  }

  /** Ticks from now on. Holds no process. */
  start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#last = this.#clock.now()
    this.#arm()
  }

  stop(): void {
    this.#isRunning = false
    this.#clock.clearTimeout(this.#timer)
  }

  /** Ticks at once after a standstill: what arrives then comes before the timer, and must not be first. */
  check(): void {
    if (!this.#isRunning || this.#late() === 0) return
    this.#clock.clearTimeout(this.#timer)
    this.#tick()
  }

  #late(): number {
    const late = this.#clock.now() - this.#last - this.#interval
    return late > this.#interval ? late : 0
  }

  #arm(): void {
    this.#timer = this.#clock.setTimeout(this.#tick, this.#interval)
    setRef(this.#timer, false)
  }

  readonly #tick = (): void => {
    const late = this.#late()
    this.#last = this.#clock.now()
    this.#arm()
    this.#onTick(late)
  }
}
