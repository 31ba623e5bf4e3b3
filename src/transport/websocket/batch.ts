import { defer } from "../../internal/defer.ts"

/** Options of a `Batch`. */
export interface BatchOptions<TItem> {
  /** The weight at which a batch is sent at once. */
  readonly limit: number
  /** Sends the collected items, at least one. */
  readonly flush: (items: TItem[]) => void
}

/**
 * Collects the items of one turn of the event loop, and sends them together.
 *
 * One frame or message for a hundred events costs little more than one for a single event.
 */
export class Batch<TItem> {
  readonly #options: BatchOptions<TItem>
  #items: TItem[] = []
  #weight = 0
  #isDue = false

  constructor(options: BatchOptions<TItem>) {
    this.#options = options
  }

  /** The total weight of the waiting items. */
  get weight(): number {
    return this.#weight
  }

  /** Adds an item. Sends the waiting items first if both together would exceed the limit. */
  add(item: TItem, weight: number): void {
    if (this.#weight > 0 && this.#weight + weight > this.#options.limit) this.flush()
    this.#items.push(item)
    this.#weight += weight
    if (this.#isDue) return
    this.#isDue = true
    defer(this.#onTurn)
  }

  flush(): void {
    if (this.#items.length > 0) this.#options.flush(this.take())
  }

  /** Removes and returns the waiting items. */
  take(): TItem[] {
    const items = this.#items
    this.#items = []
    this.#weight = 0
    return items
  }

  readonly #onTurn = (): void => {
    this.#isDue = false
    this.flush()
  }
}
