import { setRef } from "../../internal/defer.ts"
import type { ProgressUpdate } from "../../core/types.ts"
import { systemClock } from "../../internal/clock.ts"

/** Updates that may be sent at once, and how fast that allowance refills. */
const BURST = 200
const PER_SECOND = 50

/**
 * Sends progress with increasing values and a limited rate.
 *
 * After a burst only the latest update is kept, and sent when the rate allows or the call ends.
 */
export class ProgressSender {
  readonly #send: (value: ProgressUpdate) => void
  #last = Number.NEGATIVE_INFINITY
  #room = BURST
  #since = systemClock.now()
  #waiting: ProgressUpdate | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(send: (value: ProgressUpdate) => void) {
    this.#send = send
  }

  readonly report = (value: ProgressUpdate): void => {
    if (!(value.progress > this.#last)) return
    this.#last = value.progress
    if (this.#waiting === undefined && this.#hasRoom()) {
      this.#send(value)
      return
    }
    this.#waiting = value
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => this.flush(), 1000 / PER_SECOND)
    setRef(this.#timer, false)
  }

  /** Sends the waiting update, before the result of the call. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const value = this.#waiting
    this.#waiting = undefined
    if (value !== undefined) this.#send(value)
  }

  #hasRoom(): boolean {
    const now = systemClock.now()
    this.#room = Math.min(BURST, this.#room + ((now - this.#since) / 1000) * PER_SECOND)
    this.#since = now
    if (this.#room < 1) return false
    this.#room--
    return true
  }
}
