import { grown, Lists, mergeSorted } from "./arrays.ts"
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
  /** The terms that name each. */
  readonly names: Lists = new Lists()
  readonly #numbers = new Map<string, number>()
  /** The other terms of each. */
  readonly #others: Lists = new Lists()
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

  termsOf(number: number): number[] {
    return [...this.names.of(number), ...this.#others.of(number)]
  }

  /** The terms that name it come first. */
  add(id: string, terms: readonly number[], nameLength: number, effect: number): number {
    const number = this.ids.length
    this.names.add(number, terms.slice(0, nameLength))
    this.#others.add(number, terms.slice(nameLength))
    this.idHashes = grown(this.idHashes, number + 1)
    this.idHashes[number] = hashParts(partsOf(id))
    this.nameHashes = grown(this.nameHashes, number + 1)
    this.nameHashes[number] = hashParts(partsOf(id.slice(id.indexOf(".") + 1)))
    this.effects = grown(this.effects, number + 1)
    this.effects[number] = effect
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
      const { length } = this.names.of(number)
      numbers[number] = documents.add(id, terms, length, this.effects[number]!)
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
