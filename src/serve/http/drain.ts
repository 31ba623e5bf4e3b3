import type { Clock } from "../../internal/platform.ts"
import { withTimeout } from "../../internal/wait.ts"
import { turn } from "./sse.ts"

/** Counts running requests, and waits for them. */
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

  /** Resolves when no request runs, or after the timeout. */
  async wait(): Promise<void> {
    if (this.#running === 0) return
    const idle = new Promise<void>((resolve) => {
      this.#whenIdle = resolve
    })
    await withTimeout(idle, this.#timeoutMs, () => undefined, { clock: this.#clock })
  }

  /** Gives requests that were just ended one turn to answer. */
  async yieldTurn(): Promise<void> {
    if (this.#running > 0) await turn()
  }
}
