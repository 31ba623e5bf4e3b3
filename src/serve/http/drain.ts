import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"
import { turn } from "./sse.ts"

/** Counts what runs, and waits for its end. */
export class Drain {
  readonly #clock: Clock
  readonly #patienceMs: number
  #running = 0
  #whenIdle: (() => void) | undefined

  constructor(clock: Clock, patienceMs: number) {
    this.#clock = clock
    this.#patienceMs = patienceMs
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
      const timer = this.#clock.setTimeout(resolve, this.#patienceMs)
      setRef(timer, true)
      this.#whenIdle = () => {
        this.#clock.clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Gives what was just ended a moment to say so. */
  async settle(): Promise<void> {
    if (this.#running > 0) await turn()
  }
}
