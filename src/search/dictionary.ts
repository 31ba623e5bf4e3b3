import { grown, lowerBound, mergeSorted } from "./arrays.ts"
import { rootOf } from "./words.ts"

/** V8 keeps the whole text alive behind a slice of it from this length on. */
const SLICE_LENGTH = 13

/**
 * The terms of the index, numbered from 0, with how many documents use each.
 *
 * A term that no document uses any more stays in the dictionary, but is never returned.
 */
export class Dictionary {
  readonly #numbers = new Map<string, number>()
  readonly #words: string[] = []
  /** Terms by root, for those that differ from their root. */
  readonly #roots = new Map<string, number[]>()
  #uses: Uint32Array = new Uint32Array(64)
  #sorted: Uint32Array = new Uint32Array(0)
  #unsorted: number[] = []

  get size(): number {
    return this.#words.length
  }

  wordOf(term: number): string {
    return this.#words[term]!
  }

  usesOf(term: number): number {
    return this.#uses[term]!
  }

  /** Counts one more document for a word, new or known, and returns its number. */
  use(word: string): number {
    const existing = this.#numbers.get(word)
    const term = existing ?? this.#learn(word)
    this.#uses[term]!++
    return term
  }

  /** Counts one document less. */
  release(term: number): void {
    this.#uses[term]!--
  }

  /** The number of a word that some document uses. */
  find(word: string): number | undefined {
    const term = this.#numbers.get(word)
    return term !== undefined && this.#uses[term]! > 0 ? term : undefined
  }

  /** The terms that share the root of a word: its inflected forms, and words derived from the same verb. */
  relatives(word: string): number[] {
    const root = rootOf(word)
    const terms = (this.#roots.get(root) ?? []).filter((term) => this.#uses[term]! > 0)
    const own = this.find(root)
    return own === undefined ? terms : [own, ...terms]
  }

  /** Sorts the words that are new, which the next search would do otherwise. */
  sort(): void {
    this.#inOrder()
  }

  /** The terms that begin with `prefix`, itself included, in order. */
  startingWith(prefix: string): number[] {
    const sorted = this.#inOrder()
    const terms: number[] = []
    let at = lowerBound(sorted.length, (i) => this.#words[sorted[i]!]! >= prefix)
    for (; at < sorted.length; at++) {
      const term = sorted[at]!
      if (!this.#words[term]!.startsWith(prefix)) break
      if (this.#uses[term]! > 0) terms.push(term)
    }
    return terms
  }

  /** The terms that one insertion, removal, exchange or swap of letters turns into `word`. */
  near(word: string): number[] {
    const terms: number[] = []
    for (let term = 0; term < this.#words.length; term++) {
      if (isOneEditApart(word, this.#words[term]!) && this.#uses[term]! > 0) terms.push(term)
    }
    return terms
  }

  /** A copy without the terms that no document uses, and each term's number in it. */
  packed(): { dictionary: Dictionary; numbers: Uint32Array } {
    const dictionary = new Dictionary()
    const numbers = new Uint32Array(this.#words.length)
    for (const [term, word] of this.#words.entries()) {
      if (this.#uses[term] === 0) continue
      numbers[term] = dictionary.#learn(word)
      dictionary.#uses[numbers[term]] = this.#uses[term]!
    }
    dictionary.#sorted = this.#inOrder()
      .filter((term) => this.#uses[term]! > 0)
      .map((term) => numbers[term]!)
    dictionary.#unsorted = []
    return { dictionary, numbers }
  }

  #learn(word: string): number {
    const term = this.#words.length
    const own = word.length < SLICE_LENGTH ? word : word.split("").join("")
    this.#words.push(own)
    this.#numbers.set(own, term)
    this.#unsorted.push(term)
    this.#uses = grown(this.#uses, term + 1)
    const root = rootOf(own)
    if (root !== own) {
      const terms = this.#roots.get(root)
      if (terms === undefined) this.#roots.set(root, [term])
      else terms.push(term)
    }
    return term
  }

  #inOrder(): Uint32Array {
    if (this.#unsorted.length > 0) {
      const compare = (a: number, b: number): number => (this.#words[a]! < this.#words[b]! ? -1 : 1)
      this.#sorted = mergeSorted(this.#sorted, this.#unsorted.sort(compare), compare)
      this.#unsorted = []
    }
    return this.#sorted
  }
}

/** Whether one inserted, missing, wrong or swapped letter makes the difference. Not for equal words. */
export function isOneEditApart(a: string, b: string): boolean {
  const difference = a.length - b.length
  if (difference > 1 || difference < -1) return false
  const shorter = Math.min(a.length, b.length)
  let from = 0
  while (from < shorter && a.charCodeAt(from) === b.charCodeAt(from)) from++
  if (difference !== 0) {
    return difference > 0 ? sameFrom(a, from + 1, b, from) : sameFrom(a, from, b, from + 1)
  }
  if (from === shorter) return false
  if (sameFrom(a, from + 1, b, from + 1)) return true
  const swapped = a[from] === b[from + 1] && a[from + 1] === b[from]
  return swapped && sameFrom(a, from + 2, b, from + 2)
}

function sameFrom(a: string, fromA: number, b: string, fromB: number): boolean {
  let i = fromA
  let j = fromB
  while (i < a.length && a.charCodeAt(i) === b.charCodeAt(j)) {
    i++
    j++
  }
  return i >= a.length
}
