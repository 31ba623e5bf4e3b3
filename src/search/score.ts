import { grown } from "./arrays.ts"
import type { Documents } from "./documents.ts"
import { MAX_IMPACT } from "./fields.ts"
import type { Postings } from "./postings.ts"
import type { QueryWord, TermWeights } from "./query.ts"

/** The relevance that counts for half of what lies between two tiers. */
const HALF_SCORE = 8

/**
 * Adds up how well documents answer the words of a query.
 *
 * Keeps one place per document between searches, all zero while no search runs.
 */
export class Scorer {
  #best: Float32Array = new Float32Array(0)
  #sum: Float32Array = new Float32Array(0)
  #matched: Uint8Array = new Uint8Array(0)
  #foundForWord: Uint32Array = new Uint32Array(0)
  #found: Uint32Array = new Uint32Array(0)

  /**
   * One number for each document that has a word of the query, in no special order: what `toKey`
   * makes of its relevance, from 0 up to 1, and of whether it has all the words.
   */
  keys(
    words: readonly QueryWord[],
    documents: Documents,
    postings: Postings,
    toKey: (document: number, relevance: number, hasAll: boolean) => number,
  ): Float64Array {
    this.#reserve(documents.taken)
    let count = 0
    for (const word of words) count = this.#addWord(word, documents, postings, count)
    const required = words.filter((word) => word.required).length
    const keys = new Float64Array(count)
    for (let i = 0; i < count; i++) {
      const document = this.#found[i]!
      const share = this.#matched[document]! / required
      const relevance = this.#sum[document]! * share
      this.#sum[document] = 0
      this.#matched[document] = 0
      keys[i] = toKey(document, relevance / (relevance + HALF_SCORE), share === 1)
    }
    return keys
  }

  #addWord(word: QueryWord, documents: Documents, postings: Postings, count: number): number {
    const best = this.#best
    const { alive } = documents
    let answers = 0
    const collect = (terms: TermWeights): number => {
      for (const [term, weight] of terms) {
        answers = postings.collect(term, weight, alive, best, this.#foundForWord, answers)
      }
      return answers
    }
    const exactAnswers = collect(word.forms)
    collect(word.others)
    const uses = exactAnswers > 0 ? exactAnswers : answers
    const rarity = Math.log(1 + (documents.size - uses + 0.5) / (uses + 0.5)) / MAX_IMPACT
    let total = count
    for (let i = 0; i < answers; i++) {
      const document = this.#foundForWord[i]!
      if (this.#sum[document] === 0) this.#found[total++] = document
      this.#sum[document]! += best[document]! * rarity
      if (word.required) this.#matched[document]!++
      best[document] = 0
    }
    return total
  }

  #reserve(count: number): void {
    this.#best = grown(this.#best, count)
    this.#sum = grown(this.#sum, count)
    this.#matched = grown(this.#matched, count)
    this.#foundForWord = grown(this.#foundForWord, count)
    this.#found = grown(this.#found, count)
  }
}
