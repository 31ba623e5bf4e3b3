import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"

/** A stream that sends heartbeats. */
export interface Beating {
  beat(): void
}

/** One heartbeat timer for all open streams. */
export class Heartbeats {
  readonly #clock: Clock
  readonly #everyMs: number
  readonly #streams = new Set<Beating>()
  #timer: unknown

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock
    this.#everyMs = everyMs
  }

  add(stream: Beating): void {
    this.#streams.add(stream)
    if (this.#streams.size === 1) this.#wait()
  }

  delete(stream: Beating): void {
    if (!this.#streams.delete(stream) || this.#streams.size > 0) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #wait(): void {
    if (this.#everyMs === Number.POSITIVE_INFINITY) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#wait()
      for (const stream of this.#streams) stream.beat()
    }, this.#everyMs)
    setRef(this.#timer, false)
  }
}
