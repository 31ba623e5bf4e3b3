import type { Clock } from "../../src/index.ts"

interface Timer {
  readonly id: number
  readonly at: number
  readonly callback: () => void
}

/** Virtual time: nothing waits for real, and every run is the same run. */
export class VirtualClock implements Clock {
  time = 0
  #id = 0
  readonly #timers = new Map<number, Timer>()

  now(): number {
    return this.time
  }

  setTimeout(callback: () => void, delay: number): number {
    this.#timers.set(++this.#id, { id: this.#id, at: this.time + delay, callback })
    return this.#id
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as number)
  }

  defer(callback: () => void): void {
    this.setTimeout(callback, 0)
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.setTimeout(resolve, milliseconds))
  }

  async runTo(time: number): Promise<void> {
    for (;;) {
      // Promises first: what was decided has its consequences before time goes on.
      for (let turn = 0; turn < 60; turn++) await Promise.resolve()
      const next = this.#firstUntil(time)
      if (next === undefined) break
      this.#timers.delete(next.id)
      this.time = Math.max(this.time, next.at)
      next.callback()
    }
    this.time = time
  }

  /** Lets so many milliseconds go by, and what they bring. */
  async advance(milliseconds: number): Promise<void> {
    await this.runTo(this.time + milliseconds)
  }

  /** Timers that wait. */
  get timers(): number {
    return this.#timers.size
  }

  /** The timer that is due first until a time; of several, the one that was set first. */
  #firstUntil(time: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers.values())
      if (timer.at <= time && (first === undefined || timer.at < first.at)) first = timer
    return first
  }
}
