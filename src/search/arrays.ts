type Numbers = Uint8Array | Uint32Array | Float32Array

/** The array itself when it has `needed` places, else a larger copy, with room to spare. */
export function grown<TNumbers extends Numbers>(array: TNumbers, needed: number): TNumbers {
  if (needed <= array.length) return array
  const Larger = array.constructor as new (length: number) => TNumbers
  const larger = new Larger(Math.max(needed, 16 + Math.ceil(array.length * 1.5)))
  larger.set(array)
  return larger
}

/** The first place in a sorted sequence of `length` items for which `isAtOrAfter` holds. */
export function lowerBound(length: number, isAtOrAfter: (at: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isAtOrAfter(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Merges sorted `added` into sorted `numbers`, as a new array.
 *
 * Finds each place by bisection and copies what lies between, so that a few additions to a long
 * list cost a few comparisons and one copy.
 */
export function mergeSorted(
  numbers: Uint32Array,
  added: readonly number[],
  compare: (a: number, b: number) => number,
): Uint32Array {
  if (numbers.length === 0) return Uint32Array.from(added)
  const merged = new Uint32Array(numbers.length + added.length)
  let copied = 0
  for (const [i, item] of added.entries()) {
    const at = lowerBound(numbers.length, (j) => compare(numbers[j]!, item) >= 0)
    merged.set(numbers.subarray(copied, at), copied + i)
    merged[at + i] = item
    copied = at
  }
  merged.set(numbers.subarray(copied), copied + added.length)
  return merged
}

/** Lists of numbers, one after the other in one array. Numbered from 0; only added. */
export class Lists {
  items: Uint32Array = new Uint32Array(64)
  /** Where each list ends, and the next one starts. */
  ends: Uint32Array = new Uint32Array(64)

  add(number: number, list: ArrayLike<number>): void {
    const start = this.ends[number - 1] ?? 0
    this.items = grown(this.items, start + list.length)
    this.items.set(list, start)
    this.ends = grown(this.ends, number + 1)
    this.ends[number] = start + list.length
  }

  of(number: number): Uint32Array {
    return this.items.subarray(this.ends[number - 1] ?? 0, this.ends[number])
  }
}
