import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"

/** Calls back at an interval, and detects when this process itself had stood still. */
export class Ticker {
  readonly #clock: Clock
  readonly #interval: number
  readonly #onTick: (stalledFor: number) => void
  #timer: unknown
  #isRunning = false
  #last = 0

  /** `onTick` receives the delay in milliseconds; 0 unless it is longer than an interval. */
  constructor(clock: Clock, interval: number, onTick: (stalledFor: number) => void) {
    this.#clock = clock
    this.#interval = Math.max(interval, 1)
    this.#onTick = onTick
  }

  /** Starts ticking. The timer does not keep the process alive. */
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

  /** Ticks at once after a standstill, because messages that waited would otherwise be handled before the tick. */
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
