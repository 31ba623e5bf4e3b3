import { grown, type Lists } from "./arrays.ts"
import type { Dictionary } from "./dictionary.ts"
import type { Documents } from "./documents.ts"
import { CHANGES, MAX_IMPACT, READS } from "./fields.ts"
import type { Postings } from "./postings.ts"
import type { QueryPlan, QueryWord, TermWeights } from "./query.ts"

/** The relevance that counts for half of what lies between two tiers. */
const HALF_SCORE = 8

/** The impact from which a word counts fully; a smaller one, as in a long text, counts in part. */
const FULL_VALUE = 90

/**
 * How much a longer word or a correction counts: little if a word of the query has no match at all, because
 * then the index may not contain what was meant.
 */
const GUESSED = 0.5
const GUESSED_IN_VAIN = 0.05

/** Minimum share of the words that a document must have. */
const MIN_SHARE = 0.1

/** The factor for a document whose name says what the query does not ask for, such as removal. */
const UNWANTED = 0.75
/** The factor for what changes something, if the query asks to be told something, and the other way round. */
const CHANGES_UNASKED = 0.4
const READS_UNASKED = 0.5
/** How much a word counts that is not required, and one that describes what was named before. */
const OPTIONAL = 0.6
const DETAIL = 0.6
/** A word is in the name of a document when its impact is this large. */
const NAME_IMPACT = 110
/**
 * The share of its score that a document loses if no word that names it is in the query: "list repositories" does not ask
 * for `list-attestation-repositories`.
 */
const UNASKED_NAME = 0.55
/** How much better a word of a name is asked for than it matches: a synonym is nearly as good as the word. */
const NAMED_BY = 2

/**
 * Adds up how well documents match the words of a query.
 *
 * Keeps one place per document between searches, all zero while no search runs.
 */
export class Scorer {
  #best: Float32Array = new Float32Array(0)
  #sum: Float32Array = new Float32Array(0)
  #matched: Float32Array = new Float32Array(0)
  #hitsOfWord: Uint32Array = new Uint32Array(0)
  #hits: Uint32Array = new Uint32Array(0)
  #nameWeights: Float32Array = new Float32Array(0)

  /**
   * One number for each document that has a word of the query, in no special order: what `toKey`
   * makes of its relevance, from 0 up to 1.
   */
  keys(
    { words, unwanted, intent }: QueryPlan,
    documents: Documents,
    postings: Postings,
    dictionary: Dictionary,
    toKey: (document: number, relevance: number) => number,
  ): Float64Array {
    this.#reserve(documents.capacityUsed)
    let count = 0
    const needed = words.filter((word) => word.required)
    const answered = needed.filter(isKnown).length
    const guessed = answered < needed.length ? GUESSED_IN_VAIN : GUESSED
    for (const word of words) count = this.#addWord(word, guessed, documents, postings, count)
    for (const term of unwanted) {
      postings.scale(term, NAME_IMPACT, UNWANTED, this.#sum)
    }
    const required = needed.length
    const least = required > 1 ? answered * MIN_SHARE : 0
    const { effects, names } = documents
    this.#weighNames(words, dictionary, documents.size)
    const [unasked, factor] =
      intent === "read" ? [CHANGES, CHANGES_UNASKED] : [READS, intent ? READS_UNASKED : 1]
    const keys = new Float64Array(count)
    let kept = 0
    for (let i = 0; i < count; i++) {
      const document = this.#hits[i]!
      const matched = this.#matched[document]!
      const sum = this.#sum[document]!
      this.#sum[document] = 0
      this.#matched[document] = 0
      if (matched <= least) continue
      const share = this.#askedShare(document, names)
      const fits = effects[document] === unasked ? factor : 1
      const relevance = (sum * matched * fits * (1 - UNASKED_NAME * (1 - share))) / required
      keys[kept++] = toKey(document, relevance / (relevance + HALF_SCORE))
    }
    return keys.subarray(0, kept)
  }

  /** Notes for each term how rare it is, and how rare if a word of the query asks for it, else 0. */
  #weighNames(words: readonly QueryWord[], dictionary: Dictionary, size: number): void {
    const weights = grown(this.#nameWeights, dictionary.size * 2)
    this.#nameWeights = weights
    const most = Math.clz32(size) - 1
    for (let term = 0; term < dictionary.size; term++) {
      // How often all documents are halved until as few are left as have the word.
      weights[term * 2] = Math.max(1, Math.clz32(dictionary.usesOf(term)) - most) ** 2
      weights[term * 2 + 1] = 0
    }
    for (const { forms, others, guesses } of words) {
      for (const [term, match] of [...forms, ...others, ...guesses]) {
        const asked = weights[term * 2]! * Math.min(1, match * NAMED_BY)
        if (asked > weights[term * 2 + 1]!) weights[term * 2 + 1] = asked
      }
    }
  }

  /** The share of the words that name a document for which the query asks; a rare word counts more. */
  #askedShare(document: number, { items, ends }: Lists): number {
    const weights = this.#nameWeights
    let all = 0
    let asked = 0
    for (let i = ends[document - 1] ?? 0; i < ends[document]!; i++) {
      const at = items[i]! * 2
      all += weights[at]!
      asked += weights[at + 1]!
    }
    return all === 0 ? 0 : asked / all
  }

  #addWord(
    word: QueryWord,
    guessed: number,
    documents: Documents,
    postings: Postings,
    count: number,
  ): number {
    const best = this.#best
    const { alive } = documents
    let answers = 0
    const collect = (terms: TermWeights): number => {
      for (const [term, weight] of terms) {
        answers = postings.collect(term, weight, alive, best, this.#hitsOfWord, answers)
      }
      return answers
    }
    const exactAnswers = collect(word.forms)
    const surely = collect(word.others)
    collect(word.guesses)
    // A document that only mentions a word makes it less common than one that is about it.
    const counted = exactAnswers > 0 ? exactAnswers : answers
    let uses = 0
    for (let i = 0; i < counted; i++) uses += best[this.#hitsOfWord[i]!]! / MAX_IMPACT
    const weight = (word.required ? 1 : OPTIONAL) * (word.isDetail ? DETAIL : 1)
    const rarity = Math.log(1 + (documents.size - uses + 0.5) / (uses + 0.5))
    const scale = (weight * rarity) / MAX_IMPACT
    let total = count
    for (let i = 0; i < answers; i++) {
      const document = this.#hitsOfWord[i]!
      const value = best[document]!
      if (this.#sum[document] === 0) this.#hits[total++] = document
      this.#sum[document]! += value * scale
      if (word.required) {
        this.#matched[document]! += i < surely ? Math.min(1, value / FULL_VALUE) : guessed
      }
      best[document] = 0
    }
    return total
  }

  #reserve(count: number): void {
    this.#best = grown(this.#best, count)
    this.#sum = grown(this.#sum, count)
    this.#matched = grown(this.#matched, count)
    this.#hitsOfWord = grown(this.#hitsOfWord, count)
    this.#hits = grown(this.#hits, count)
  }
}

function isKnown({ forms, others, guesses }: QueryWord): boolean {
  return forms.size + others.size + guesses.size > 0
}
