import { deferOn } from "../internal/clock.ts"
import { defer } from "../internal/defer.ts"
import type { Clock } from "../internal/platform.ts"

/**
 * Collects the items of one turn of the event loop, and sends them together.
 *
 * One frame or message for a hundred events costs little more than one for a single event.
 */
export class Batch<TItem> {
  readonly #limit: number
  readonly #send: (items: TItem[]) => void
  readonly #clock: Clock | undefined
  #items: TItem[] = []
  /** The total weight of the waiting items. */
  weight = 0
  #isDue = false

  /** `limit` is the weight at which a batch is sent at once; `send` gets at least one item. Without a clock, turns are the platform's. */
  constructor(limit: number, send: (items: TItem[]) => void, clock?: Clock) {
    this.#limit = limit
    this.#send = send
    this.#clock = clock
  }

  /** Adds an item. Sends the waiting items first if both together would exceed the limit. */
  add(item: TItem, weight: number): void {
    if (this.weight > 0 && this.weight + weight > this.#limit) this.flush()
    this.#items.push(item)
    this.weight += weight
    if (this.#isDue) return
    this.#isDue = true
    if (this.#clock === undefined) defer(this.#onTurn)
    else deferOn(this.#clock, this.#onTurn)
  }

  flush(): void {
    if (this.#items.length > 0) this.#send(this.take())
  }

  /** Removes and returns the waiting items. */
  take(): TItem[] {
    const items = this.#items
    this.#items = []
    this.weight = 0
    return items
  }

  readonly #onTurn = (): void => {
    this.#isDue = false
    this.flush()
  }
}
