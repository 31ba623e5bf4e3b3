import type { Dictionary } from "./dictionary.ts"
import { intentOf, type Intent } from "./intent.ts"
import { SELDOM_MEANT, synonymsOf, withoutPhrases } from "./synonyms.ts"
import { readWords } from "./tokenize.ts"
import { PREPOSITIONS, STOP_WORDS, WEAK_WORDS, singular, stem } from "./words.ts"

/** Term numbers with how well each matches a word, up to 1. */
export type TermWeights = ReadonlyMap<number, number>

/** A word of the query, as the terms of the index that match it; the best one in a document counts. */
export interface QueryWord {
  /** Whether a document must have it to count as matching the whole query. */
  readonly required: boolean
  /** Whether it describes something that was named before: "a branch" in "commits on a branch". */
  readonly isDetail: boolean
  /** The word itself and related words; the number of documents with one of them shows how rare the word is. */
  readonly forms: TermWeights
  /** Synonyms, and the word joined with its neighbor. */
  readonly others: TermWeights
  /** Guesses: longer words, and corrections. */
  readonly guesses: TermWeights
}

/** A parsed query. */
export interface QueryPlan {
  readonly words: readonly QueryWord[]
  /** Terms that lower the score of a document. */
  readonly unwanted: readonly number[]
  /** What the query asks for. */
  readonly intent: Intent
}

const MAX_QUERY_LENGTH = 4096
const MAX_QUERY_WORDS = 32
/** The same after splitting words, so that their number fits into a byte. */
const MAX_PLANNED_WORDS = 64
/** Correcting a word reads the whole dictionary; a query of gibberish gets this many tries. */
const MAX_CORRECTIONS = 8

const RELATIVE_WEIGHT = 0.9
const JOINED_WEIGHT = 0.8
const PREFIX_WEIGHT = 0.7
const ROOT_WEIGHT = 0.6
const TYPO_WEIGHT = 0.4

const MIN_PREFIX_INSIDE = 3
const MIN_TYPO_LENGTH = 4
const MIN_PIECE_LENGTH = 3

/** The words of a query in order, at most 32: `listPods` is two, unless `listpods` is itself known. */
export function queryParts(query: string, isKnown: (word: string) => boolean): string[] {
  const parts: string[] = []
  readWords(query.slice(0, MAX_QUERY_LENGTH), false, (word) => {
    const whole = word.join("")
    parts.push(...(word.length > 1 && isKnown(whole) ? [whole] : word))
    return parts.length < MAX_QUERY_WORDS
  })
  return parts.slice(0, MAX_QUERY_WORDS)
}

/** Finds the terms that match each word of a query. */
export function planQuery(parts: readonly string[], dictionary: Dictionary): QueryPlan {
  const words: QueryWord[] = []
  const intent = intentOf(parts)
  const asked = withoutPhrases(parts)
  const isVague = asked.every(({ word }) => isOptional(word))
  if (intent === "read" && !parts.some((word) => means(word, ["get"]))) {
    // Questions are answered by lists, more often than by anything else.
    asked.push({ word: "list", isHelp: true })
  }
  const spelled = asked.map(({ word }) => word)
  let isDetail = false
  let corrections = MAX_CORRECTIONS
  for (const [i, { word, isHelp }] of asked.entries()) {
    if (words.length > 0 && PREPOSITIONS.has(word)) isDetail = true
    if (spelled.indexOf(word) < i) continue
    const required = !isHelp && (isVague || !isOptional(word))
    const forms = formsOf(word, dictionary)
    const others = synonymTerms(spelled, i, dictionary)
    const guesses = longerWords(word, word === parts.at(-1), dictionary)
    const isKnown = forms.size + others.size + guesses.size > 0
    if (!isKnown && word.length >= MIN_TYPO_LENGTH && corrections-- > 0) {
      for (const term of dictionary.near(word)) guesses.set(term, TYPO_WEIGHT)
    }
    const pieces = isKnown || guesses.size > 0 ? [] : splitWord(word, dictionary)
    if (pieces.length === 0) words.push({ required, isDetail, forms, others, guesses })
    for (const piece of pieces) {
      const none = new Map<number, number>()
      words.push({
        required,
        isDetail,
        forms: formsOf(piece, dictionary),
        others: none,
        guesses: none,
      })
    }
  }
  return {
    words: words.slice(0, MAX_PLANNED_WORDS),
    unwanted: SELDOM_MEANT.flatMap((group) =>
      spelled.some((word) => means(word, group))
        ? []
        : group.flatMap((word) => dictionary.find(word) ?? []),
    ),
    intent,
  }
}

/** Whether a word seldom says what an operation is about; version numbers belong to values. */
function isOptional(word: string): boolean {
  return STOP_WORDS.has(word) || WEAK_WORDS.has(word) || /^v?\d+$/.test(word)
}

/** Whether a word is one of these, or stands for one. */
function means(word: string, words: readonly string[]): boolean {
  return words.includes(word) || words.some((other) => synonymsOf(word).has(other))
}

function formsOf(word: string, dictionary: Dictionary): Map<number, number> {
  const terms = new Map<number, number>()
  const base = stem(word)
  for (const term of dictionary.relatives(word)) {
    const isForm = stem(dictionary.wordOf(term)) === base
    terms.set(term, isForm ? RELATIVE_WEIGHT : ROOT_WEIGHT)
  }
  const exact = dictionary.find(word)
  if (exact !== undefined) terms.set(exact, 1)
  return terms
}

function synonymTerms(
  words: readonly string[],
  at: number,
  dictionary: Dictionary,
): Map<number, number> {
  const word = words[at]!
  const terms = new Map<number, number>()
  const synonyms = synonymsOf(word).size > 0 ? synonymsOf(word) : synonymsOf(singular(word))
  for (const [synonym, weight] of synonyms) {
    for (const [term, share] of formsOf(synonym, dictionary)) {
      terms.set(term, Math.max(terms.get(term) ?? 0, weight * share))
    }
  }
  // "web hook" asks for "webhook".
  for (const joined of [(words[at - 1] ?? "") + word, word + (words[at + 1] ?? "")]) {
    const term = joined === word ? undefined : dictionary.find(joined)
    if (term !== undefined) terms.set(term, JOINED_WEIGHT)
  }
  return terms
}

/** The words that a word may be the beginning of: the last one may not have been typed to its end. */
function longerWords(word: string, isLast: boolean, dictionary: Dictionary): Map<number, number> {
  const terms = new Map<number, number>()
  if (STOP_WORDS.has(word) || !(isLast || word.length >= MIN_PREFIX_INSIDE)) return terms
  for (const term of dictionary.startingWith(word)) {
    terms.set(term, (PREFIX_WEIGHT * word.length) / dictionary.wordOf(term).length)
  }
  return terms
}

/** Splits `listpods` into the fewest known words; empty when that leaves something over. */
function splitWord(word: string, dictionary: Dictionary): string[] {
  const best: (readonly string[] | undefined)[] = [[]]
  for (let end = MIN_PIECE_LENGTH; end <= word.length; end++) {
    for (let start = 0; start <= end - MIN_PIECE_LENGTH; start++) {
      const before = best[start]
      if (before === undefined || before.length + 1 >= (best[end]?.length ?? Infinity)) continue
      const piece = word.slice(start, end)
      if (dictionary.find(piece) !== undefined) best[end] = [...before, piece]
    }
  }
  return [...(best[word.length] ?? [])]
}
