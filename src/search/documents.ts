import { grown, mergeSorted } from "./arrays.ts"
import type { Traits } from "./fields.ts"
import { partsOf } from "./tokenize.ts"

/**
 * The documents of the index, numbered in the order of insertion. The number of a removed document is unused
 * until the index is packed.
 */
export class Documents {
  readonly ids: string[] = []
  /** 1 for each number whose document exists. */
  alive: Uint8Array = new Uint8Array(64)
  idHashes: Uint32Array = new Uint32Array(64)
  nameHashes: Uint32Array = new Uint32Array(64)
  /** Whether each reads or changes something. */
  effects: Uint8Array = new Uint8Array(64)
  /** Number of significant words in the name of each. */
  nameLengths: Uint8Array = new Uint8Array(64)
  readonly #numbers = new Map<string, number>()
  /** Every document's terms, one after the other, and where those of each end. */
  #terms: Uint32Array = new Uint32Array(1024)
  #termEnds: Uint32Array = new Uint32Array(64)
  #inIdOrder: Uint32Array = new Uint32Array(0)
  #places: Uint32Array = new Uint32Array(0)

  /** How many documents there are. */
  get size(): number {
    return this.#numbers.size
  }

  /** How many numbers are taken, those of removed documents included. */
  get capacityUsed(): number {
    return this.ids.length
  }

  numberOf(id: string): number | undefined {
    return this.#numbers.get(id)
  }

  termsOf(number: number): Uint32Array {
    const start = number === 0 ? 0 : this.#termEnds[number - 1]!
    return this.#terms.subarray(start, this.#termEnds[number])
  }

  add(id: string, terms: ArrayLike<number>, traits: Traits): number {
    const name = id.slice(id.indexOf(".") + 1)
    return this.#append(id, terms, hashParts(partsOf(id)), hashParts(partsOf(name)), traits)
  }

  #append(
    id: string,
    terms: ArrayLike<number>,
    idHash: number,
    nameHash: number,
    { effect, nameLength }: Traits,
  ): number {
    const number = this.ids.length
    const start = number === 0 ? 0 : this.#termEnds[number - 1]!
    this.#terms = grown(this.#terms, start + terms.length)
    this.#terms.set(terms, start)
    this.#termEnds = grown(this.#termEnds, number + 1)
    this.#termEnds[number] = start + terms.length
    this.idHashes = grown(this.idHashes, number + 1)
    this.idHashes[number] = idHash
    this.nameHashes = grown(this.nameHashes, number + 1)
    this.nameHashes[number] = nameHash
    this.effects = grown(this.effects, number + 1)
    this.effects[number] = effect
    this.nameLengths = grown(this.nameLengths, number + 1)
    this.nameLengths[number] = Math.min(nameLength, 255)
    this.alive = grown(this.alive, number + 1)
    this.alive[number] = 1
    this.ids.push(id)
    this.#numbers.set(id, number)
    return number
  }

  remove(id: string, number: number): void {
    this.#numbers.delete(id)
    this.alive[number] = 0
  }

  /** The numbers in the order of their ids, removed documents included. */
  inIdOrder(): Uint32Array {
    this.#sort()
    return this.#inIdOrder
  }

  /** For each number, its place in `inIdOrder()`. */
  places(): Uint32Array {
    this.#sort()
    return this.#places
  }

  /** A copy without the removed documents, and each document's number in it. */
  packed(termNumbers: Uint32Array): { documents: Documents; numbers: Uint32Array } {
    const documents = new Documents()
    const numbers = new Uint32Array(this.ids.length)
    for (const [number, id] of this.ids.entries()) {
      if (this.alive[number] === 0) continue
      const terms = this.termsOf(number).map((term) => termNumbers[term]!)
      const hashes = [this.idHashes[number]!, this.nameHashes[number]!] as const
      const traits = { effect: this.effects[number]!, nameLength: this.nameLengths[number]! }
      numbers[number] = documents.#append(id, terms, ...hashes, traits)
    }
    documents.#place(
      this.inIdOrder()
        .filter((number) => this.alive[number] === 1)
        .map((number) => numbers[number]!),
    )
    return { documents, numbers }
  }

  // Makes new arrays: a search that is still running keeps those it began with.
  #sort(): void {
    const sorted = this.#inIdOrder.length
    if (sorted === this.ids.length) return
    const compare = (a: number, b: number): number => {
      const [left, right] = [this.ids[a]!, this.ids[b]!]
      return left < right ? -1 : left > right ? 1 : a - b
    }
    const added = Array.from({ length: this.ids.length - sorted }, (_, i) => sorted + i)
    this.#place(mergeSorted(this.#inIdOrder, added.sort(compare), compare))
  }

  #place(inIdOrder: Uint32Array): void {
    this.#inIdOrder = inIdOrder
    this.#places = new Uint32Array(this.#inIdOrder.length)
    for (let place = 0; place < this.#inIdOrder.length; place++) {
      this.#places[this.#inIdOrder[place]!] = place
    }
  }
}

/**
 * FNV-1a over the words of a name, so that `createIssue`, `create_issue` and "create issue" agree.
 *
 * Compared only for documents that contain a word of the query. A collision is very unlikely, and would only rank
 * such a document higher.
 */
export function hashParts(parts: readonly string[]): number {
  let hash = 0x811c9dc5
  for (const part of parts) {
    for (let i = 0; i < part.length; i++) hash = Math.imul(hash ^ part.charCodeAt(i), 0x01000193)
    hash = Math.imul(hash ^ 0x20, 0x01000193)
  }
  return hash >>> 0
}
