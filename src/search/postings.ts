import { grown } from "./arrays.ts"

/** The largest document number that a posting holds, plus one. */
export const MAX_DOCUMENTS: number = 2 ** 24

/** A chunk begins with the place of the next one; the first chunk of a list holds this many. */
const FIRST_CHUNK = 2
const LARGEST_DOUBLING = 10

/**
 * For each term, the documents that contain it, each with its impact (1 to 255).
 *
 * A posting is one 32-bit number. All lists live in one array, as chains of chunks that double in
 * size: adding is constant time, a rare term takes three numbers, and the garbage collector sees one
 * object instead of one per term.
 */
export class Postings {
  #pool: Uint32Array = new Uint32Array(1024)
  #used = 0
  #head: Uint32Array = new Uint32Array(64)
  #next: Uint32Array = new Uint32Array(64)
  #end: Uint32Array = new Uint32Array(64)
  #chunks: Uint32Array = new Uint32Array(64)

  /** Adds a document to a term's list. Terms are numbered from 0 without gaps. */
  add(term: number, document: number, impact: number): void {
    this.#reserveTerm(term)
    if (this.#next[term] === this.#end[term]) this.#addChunk(term)
    this.#pool[this.#next[term]!++] = document * 256 + impact
  }

  /** Adds the living documents of a term in `other` to one here, by their new numbers. */
  addFrom(
    other: Postings,
    otherTerm: number,
    term: number,
    alive: Uint8Array,
    numbers: Uint32Array,
  ): void {
    for (const chunk of other.#chunksOf(otherTerm)) {
      for (const posting of chunk) {
        const document = posting >>> 8
        if (alive[document] === 1) this.add(term, numbers[document]!, posting & 255)
      }
    }
  }

  /**
   * Raises `best[document]` to `weight` times the impact, for each living document of a term.
   * Documents that were at zero are appended to `hits`, from `count` on; returns the new count.
   */
  collect(
    term: number,
    weight: number,
    alive: Uint8Array,
    best: Float32Array,
    hits: Uint32Array,
    count: number,
  ): number {
    let total = count
    for (const chunk of this.#chunksOf(term)) {
      for (let i = 0; i < chunk.length; i++) {
        const posting = chunk[i]!
        const document = posting >>> 8
        if (alive[document] === 0) continue
        const value = weight * (posting & 255)
        const before = best[document]!
        if (before === 0) hits[total++] = document
        if (value > before) best[document] = value
      }
    }
    return total
  }

  /** Multiplies `values[document]` by `factor` for each document in which a term has at least this impact. */
  scale(term: number, impact: number, factor: number, values: Float32Array): void {
    for (const chunk of this.#chunksOf(term)) {
      for (let i = 0; i < chunk.length; i++) {
        const posting = chunk[i]!
        if ((posting & 255) >= impact) values[posting >>> 8]! *= factor
      }
    }
  }

  #chunksOf(term: number): Uint32Array[] {
    const chunks: Uint32Array[] = []
    let at = this.#head[term]!
    for (let i = 1; i <= this.#chunks[term]!; i++) {
      const end = i === this.#chunks[term] ? this.#next[term]! : at + 1 + sizeOf(i - 1)
      chunks.push(this.#pool.subarray(at + 1, end))
      at = this.#pool[at]!
    }
    return chunks
  }

  #reserveTerm(term: number): void {
    this.#head = grown(this.#head, term + 1)
    this.#next = grown(this.#next, term + 1)
    this.#end = grown(this.#end, term + 1)
    this.#chunks = grown(this.#chunks, term + 1)
  }

  #addChunk(term: number): void {
    const index = this.#chunks[term]!++
    const size = sizeOf(index)
    const at = this.#used
    this.#used += size + 1
    this.#pool = grown(this.#pool, this.#used)
    if (index === 0) this.#head[term] = at
    else this.#pool[this.#end[term]! - sizeOf(index - 1) - 1] = at
    this.#next[term] = at + 1
    this.#end[term] = at + 1 + size
  }
}

function sizeOf(chunk: number): number {
  return FIRST_CHUNK << Math.min(chunk, LARGEST_DOUBLING)
}
