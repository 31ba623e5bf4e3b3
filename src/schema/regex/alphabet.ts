import { type CharSet, contains, usesProperty, WORD } from "./char-set.ts"

/** Code points whose class is remembered, where finding it takes a regular expression. */
const MAX_REMEMBERED = 10_000

/**
 * The characters of one pattern, in classes: every set contains either all characters of a class or none.
 *
 * Sets that are written with `\p{…}` have hundreds of ranges, so the native engine is asked about each character.
 */
export class Alphabet {
  readonly #sets: CharSet[] = []
  readonly #indexes = new Map<CharSet, number>()
  readonly #properties: Array<{ readonly index: number; readonly regexp: RegExp }> = []
  /** First code points of ranges that no set without `\p{…}` cuts. */
  #starts: readonly number[] | undefined
  readonly #ascii = new Int32Array(128).fill(-1)
  readonly #remembered = new Map<number, number>()
  readonly #classes = new Map<string, number>()
  readonly #rows: Uint8Array[] = []
  readonly #isWord: boolean[] = []

  /** Adds a set, before any character is classified; returns its index. */
  add(set: CharSet, text: string): number {
    let index = this.#indexes.get(set)
    if (index !== undefined) return index
    index = this.#sets.push(set) - 1
    this.#indexes.set(set, index)
    if (usesProperty(text)) this.#properties.push({ index, regexp: new RegExp(text, "u") })
    return index
  }

  /** The class of a code point. */
  classOf(code: number): number {
    if (code < 128) {
      const cached = this.#ascii[code] as number
      return cached >= 0 ? cached : (this.#ascii[code] = this.#find(code))
    }
    const cached = this.#remembered.get(code)
    if (cached !== undefined) return cached
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear()
    const classIndex = this.#find(code)
    this.#remembered.set(code, classIndex)
    return classIndex
  }

  /** For each set, 1 when the class is in it. */
  setsOf(kind: number): Uint8Array {
    return this.#rows[kind] as Uint8Array
  }

  isWord(kind: number): boolean {
    return this.#isWord[kind] as boolean
  }

  #find(code: number): number {
    const text = String.fromCodePoint(code)
    const matching = this.#properties.filter(({ regexp }) => regexp.test(text))
    const key = `${this.#rangeOf(code)} ${matching.map(({ index }) => index).join()}`
    const cached = this.#classes.get(key)
    if (cached !== undefined) return cached
    const row = Uint8Array.from(this.#sets, (set) => (contains(set, code) ? 1 : 0))
    for (const { index } of this.#properties) row[index] = 0
    for (const { index } of matching) row[index] = 1
    this.#isWord.push(contains(WORD, code))
    const kind = this.#rows.push(row) - 1
    this.#classes.set(key, kind)
    return kind
  }

  /** The range of a code point: the last that starts at or before it. */
  #rangeOf(code: number): number {
    const starts = (this.#starts ??= this.#cut())
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] as number) <= code) low = middle
      else high = middle - 1
    }
    return low
  }

  #cut(): readonly number[] {
    const approximate = new Set(this.#properties.map(({ index }) => index))
    const starts = new Set([0])
    for (const set of [...this.#sets.filter((_, index) => !approximate.has(index)), WORD]) {
      for (const [from, to] of set) starts.add(from).add(to + 1)
    }
    return [...starts].toSorted((a, b) => a - b)
  }
}
