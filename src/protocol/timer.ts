import type { DeadlineEntry } from "../internal/deadlines.ts"
import type { Endpoint } from "./endpoint.ts"

/** A restartable timer on the shared deadlines of an endpoint. */
export class EndpointTimer implements DeadlineEntry {
  readonly isOver = false
  listedIn: DeadlineEntry["listedIn"] = undefined
  dueBefore: DeadlineEntry | undefined = undefined
  dueAfter: DeadlineEntry | undefined = undefined
  readonly #endpoint: Endpoint
  readonly #expired: () => void
  #due = 0

  constructor(endpoint: Endpoint, expired: () => void) {
    this.#endpoint = endpoint
    this.#expired = expired
  }

  /** (Re)starts the timer. `Infinity` never expires. */
  start(due: number): void {
    this.stop()
    if (due === Number.POSITIVE_INFINITY) return
    this.#due = due
    this.#endpoint.deadlines.add(this)
  }

  stop(): void {
    if (this.listedIn !== undefined) this.#endpoint.deadlines.remove(this)
  }

  due(): number {
    return this.#due
  }

  expire(): void {
    this.#expired()
  }
}
