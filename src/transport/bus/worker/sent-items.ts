import type { KeptText } from "./kept-results.ts"

/** The array is compacted only beyond this many removed items. */
const FEW = 64

/** The items of one stream that its caller may not have received, in order. */
export class SentItems<TOwner> {
  #items: (KeptText<TOwner> | undefined)[] = []
  #head = 0
  /** The number of the last item that was sent. */
  #last = 0
  /** The number of the last item that the caller has confirmed. */
  #received = 0

  /** The number of items sent. */
  get count(): number {
    return this.#last
  }

  /** Adds the next item. */
  add(item: KeptText<TOwner>): void {
    this.#items.push(item)
    this.#last++
  }

  /** Notes that the caller has all items up to this one; returns those that need not be kept any longer. */
  receivedUpTo(seq: number): KeptText<TOwner>[] {
    const count = Math.min(seq, this.#last) - this.#received
    if (count <= 0) return []
    const end = this.#head + count
    const gone = this.#items.slice(this.#head, end) as KeptText<TOwner>[]
    this.#items.fill(undefined, this.#head, end)
    this.#head = end
    this.#received += count
    if (this.#head > FEW && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return gone
  }

  /** All unconfirmed items; `undefined` when some of them are no longer kept. */
  missing(): readonly KeptText<TOwner>[] | undefined {
    const items = this.#items.slice(this.#head) as KeptText<TOwner>[]
    return items.every(({ isKept }) => isKept) ? items : undefined
  }
}
