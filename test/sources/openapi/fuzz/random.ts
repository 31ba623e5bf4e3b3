/** Chance that can be had again: the same seed gives the same choices. */
export class Random {
  #state: number

  constructor(seed: number) {
    // Neighbouring seeds should not begin alike.
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
    this.next()
  }

  /** A number from 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let value = this.#state
    value = Math.imul(value ^ (value >>> 15), value | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number below a limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** True once in so many times. */
  once(times: number): boolean {
    return this.below(times) === 0
  }

  /** One of a list, which must not be empty. */
  pick<TItem>(items: readonly TItem[]): TItem {
    return items[this.below(items.length)] as TItem
  }
}
