/** Numbers that look random and are the same for the same seed. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** At least 0, less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** A whole number from the first to the last, both included. */
  between(first: number, last: number): number {
    return first + Math.floor(this.next() * (last - first + 1))
  }

  pick<TItem>(items: readonly TItem[]): TItem {
    return items[Math.floor(this.next() * items.length)] as TItem
  }
}
