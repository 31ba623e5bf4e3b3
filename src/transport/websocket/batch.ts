import { defer } from "../../internal/defer.ts"

/** How a batch ends. */
export interface BatchOptions<TItem> {
  /** The weight from which a batch does not wait any longer. */
  readonly limit: number
  /** Sends what was collected: one item at least. */
  readonly flush: (items: TItem[]) => void
}

/**
 * Collects what is sent in one turn of the event loop, so that it leaves together.
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

  /** What the waiting items weigh together. */
  get weight(): number {
    return this.#weight
  }

  /** Adds an item. What waits is sent first when both together would weigh too much. */
  add(item: TItem, weight: number): void {
    if (this.#weight > 0 && this.#weight + weight > this.#options.limit) this.flush()
    this.#items.push(item)
    this.#weight += weight
    if (this.#isDue) return
    this.#isDue = true
    defer(this.#onTurn)
  }

  /** Sends what waits now. */
  flush(): void {
    if (this.#items.length > 0) this.#options.flush(this.take())
  }

  /** Hands over what waits, which is then no longer here. */
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
