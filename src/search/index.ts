import { Dictionary } from "./dictionary.ts"
import { Documents, hashParts } from "./documents.ts"
import { effectOf, impactsOf, namingWords, type SearchDocument } from "./fields.ts"
import { Postings } from "./postings.ts"
import { planQuery, queryParts } from "./query.ts"
import { eachDescending, placeOfKey, rankKey, scoreOfKey } from "./rank.ts"
import { Scorer } from "./score.ts"
import { partsOf } from "./tokenize.ts"

export type { SearchDocument } from "./fields.ts"

/** A search result: the whole part of `score` is the kind of match, the rest its quality. */
export interface SearchHit {
  readonly id: string
  readonly score: number
}

/** The number of results, and a filter. */
export interface SearchOptions {
  /** Maximum number of results; 20 by default. */
  limit?: number | undefined
  /** A filter, called in rank order until the limit is reached. */
  accept?: ((id: string) => boolean) | undefined
}

/** What a document matches, in rising order; the whole part of its score. */
const Tier = { WORDS: 0, NAME: 1, SPELLED_ID: 2, ID: 3 } as const

/** Number of results unless a limit is given. */
export const DEFAULT_LIMIT = 20
/** Removed documents are kept until there are this many, and more than live ones. */
const MIN_UNUSED = 1024

/**
 * A ranked full-text index of operations that changes at any time.
 *
 * Results are in this order: the operation whose id is the query, those whose name is, those with some of its
 * words; then by relevance, then by id. A word also matches its inflected forms, words
 * derived from the same verb, synonyms, longer words that start with it and, if nothing else matches, words
 * with one typo; each of these counts less than the one before. If a word of the query has no match at all,
 * prefixes and corrections of the others do not count.
 */
export class SearchIndex {
  #dictionary = new Dictionary()
  #documents = new Documents()
  #postings = new Postings()
  readonly #scorer = new Scorer()

  /** How many documents there are. */
  get size(): number {
    return this.#documents.size
  }

  /** Whether a document with this id is there. */
  has(id: string): boolean {
    return this.#documents.numberOf(id) !== undefined
  }

  /** Adds a document, or replaces the one with the same id. */
  add(document: SearchDocument): void {
    const impacts = [...impactsOf(document)]
    this.remove(document.id)
    const terms = impacts.map(([word]) => this.#dictionary.use(word))
    const { length } = namingWords(document)
    const number = this.#documents.add(document.id, terms, length, effectOf(document))
    for (const [i, [, impact]] of impacts.entries()) this.#postings.add(terms[i]!, number, impact)
  }

  /** Removes a document; returns `false` if there was none. */
  remove(id: string): boolean {
    const number = this.#documents.numberOf(id)
    if (number === undefined) return false
    for (const term of this.#documents.termsOf(number)) this.#dictionary.release(term)
    this.#documents.remove(id, number)
    const unused = this.#documents.capacityUsed - this.#documents.size
    if (unused > MIN_UNUSED && unused > this.#documents.size) this.#pack()
    return true
  }

  /** Sorts what was added, so that the next search does not wait for it. */
  prepare(): void {
    this.#documents.inIdOrder()
    this.#dictionary.sort()
  }

  /**
   * The best matches of a query, best first; all documents by id if it is empty.
   *
   * Throws a `TypeError` if the query is not a string or the limit not a whole number.
   */
  search(query: string, options: SearchOptions = {}): SearchHit[] {
    const limit = checkArguments(query, options.limit)
    const hits: SearchHit[] = []
    const wanted = query.trim()
    const documents = this.#documents
    const { ids, alive } = documents
    const inIdOrder = documents.inIdOrder()
    const take = (document: number, score: number): boolean => {
      const id = ids[document]!
      if (options.accept === undefined || options.accept(id)) hits.push({ id, score })
      return hits.length < limit
    }
    if (limit === 0) return hits
    if (wanted === "") {
      for (const number of inIdOrder) if (alive[number] === 1 && !take(number, 0)) break
      return hits
    }
    eachDescending(this.#keys(wanted), (key) => take(inIdOrder[placeOfKey(key)]!, scoreOfKey(key)))
    return hits
  }

  /** The rank keys of all matches of a query. */
  #keys(query: string): Float64Array {
    const documents = this.#documents
    const parts = queryParts(query, (word) => this.#dictionary.find(word) !== undefined)
    const plan = planQuery(parts, this.#dictionary)
    const spelled = hashParts(partsOf(query))
    const places = documents.places()
    const { idHashes, nameHashes } = documents
    const exact = documents.numberOf(query)
    let isExactFound = exact === undefined
    const keys = this.#scorer.keys(
      plan,
      documents,
      this.#postings,
      this.#dictionary,
      (number, relevance) => {
        let tier: number = Tier.WORDS
        if (nameHashes[number] === spelled) tier = Tier.NAME
        if (idHashes[number] === spelled) tier = Tier.SPELLED_ID
        if (number === exact) {
          tier = Tier.ID
          isExactFound = true
        }
        return rankKey(tier + relevance, places[number]!)
      },
    )
    // For example, an id without letters or digits has no words.
    return isExactFound ? keys : appended(keys, rankKey(Tier.ID, places[exact!]!))
  }

  /** Renumbers documents and terms, without removed ones. */
  #pack(): void {
    const terms = this.#dictionary.packed()
    const kept = this.#documents.packed(terms.numbers)
    const postings = new Postings()
    for (let term = 0; term < this.#dictionary.size; term++) {
      if (this.#dictionary.usesOf(term) === 0) continue
      const number = terms.numbers[term]!
      postings.addFrom(this.#postings, term, number, this.#documents.alive, kept.numbers)
    }
    this.#dictionary = terms.dictionary
    this.#documents = kept.documents
    this.#postings = postings
  }
}

function appended(keys: Float64Array, key: number): Float64Array {
  const longer = new Float64Array(keys.length + 1)
  longer.set(keys)
  longer[keys.length] = key
  return longer
}

function checkArguments(query: unknown, limit: number = DEFAULT_LIMIT): number {
  if (typeof query !== "string") {
    throw new TypeError(
      `search(query) takes a string; got ${query === null ? "null" : typeof query}.`,
    )
  }
  if (limit !== Infinity && (!Number.isSafeInteger(limit) || limit < 0)) {
    throw new TypeError(
      `search() option "limit" takes a whole number from 0 on, or Infinity for all; got ${typeof limit === "number" ? limit : typeof limit}.`,
    )
  }
  return limit
}
