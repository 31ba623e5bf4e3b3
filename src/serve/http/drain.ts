import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"
import { turn } from "./sse.ts"

/** Counts what runs, and waits for its end. */
export class Drain {
  readonly #clock: Clock
  readonly #timeoutMs: number
  #running = 0
  #whenIdle: (() => void) | undefined

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  begin(): void {
    this.#running++
  }

  end(): void {
    if (--this.#running === 0) this.#whenIdle?.()
  }

  /** Settles when nothing runs, or patience is over. */
  async wait(): Promise<void> {
    if (this.#running === 0) return
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimeout(resolve, this.#timeoutMs)
      setRef(timer, true)
      this.#whenIdle = () => {
        this.#clock.clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Gives what was just ended a moment to say so. */
  async yieldTurn(): Promise<void> {
    if (this.#running > 0) await turn()
  }
}
