import type { Dictionary } from "./dictionary.ts"
import { readWords } from "./tokenize.ts"
import { STOP_WORDS, synonymsOf } from "./words.ts"

/** Term numbers with how well each answers a word, up to 1. */
export type TermWeights = ReadonlyMap<number, number>

/** A word of the query, as the terms of the index that answer it; the best in a document counts. */
export interface QueryWord {
  /** Whether a document must have it to count as matching the whole query. */
  readonly required: boolean
  /** The word itself and its relatives: how many documents have one says how rare the word is. */
  readonly forms: TermWeights
  /** What may be meant instead: longer words, synonyms, corrections. */
  readonly others: TermWeights
}

const MAX_QUERY_LENGTH = 4096
const MAX_QUERY_WORDS = 32
/** The same after words have been split, so that a count of them fits a byte. */
const MAX_PLANNED_WORDS = 64
/** Correcting a word reads the whole dictionary; a query of gibberish gets this many tries. */
const MAX_CORRECTIONS = 8

const RELATIVE_WEIGHT = 0.9
const JOINED_WEIGHT = 0.8
const PREFIX_WEIGHT = 0.7
const SYNONYM_WEIGHT = 0.5
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

/** Finds for each word of a query the terms that answer it. */
export function planQuery(parts: readonly string[], dictionary: Dictionary): QueryWord[] {
  const words: QueryWord[] = []
  const onlyStopWords = parts.every((part) => STOP_WORDS.has(part))
  let corrections = MAX_CORRECTIONS
  for (const [i, part] of parts.entries()) {
    if (parts.indexOf(part) < i) continue
    const required = onlyStopWords || !STOP_WORDS.has(part)
    const forms = formsOf(part, dictionary)
    const others = alternativesTo(parts, i, dictionary)
    const isKnown = forms.size + others.size > 0
    if (!isKnown && part.length >= MIN_TYPO_LENGTH && corrections-- > 0) {
      for (const term of dictionary.near(part)) others.set(term, TYPO_WEIGHT)
    }
    const pieces = isKnown || others.size > 0 ? [] : splitWord(part, dictionary)
    if (pieces.length === 0) words.push({ required, forms, others })
    for (const piece of pieces) {
      words.push({ required, forms: formsOf(piece, dictionary), others: new Map() })
    }
  }
  return words.slice(0, MAX_PLANNED_WORDS)
}

function formsOf(word: string, dictionary: Dictionary): Map<number, number> {
  const terms = new Map<number, number>()
  for (const term of dictionary.relatives(word)) terms.set(term, RELATIVE_WEIGHT)
  const exact = dictionary.find(word)
  if (exact !== undefined) terms.set(exact, 1)
  return terms
}

function alternativesTo(
  parts: readonly string[],
  at: number,
  dictionary: Dictionary,
): Map<number, number> {
  const part = parts[at]!
  const terms = new Map<number, number>()
  const isLast = at === parts.length - 1
  if ((isLast || part.length >= MIN_PREFIX_INSIDE) && !STOP_WORDS.has(part)) {
    for (const term of dictionary.startingWith(part)) {
      terms.set(term, (PREFIX_WEIGHT * part.length) / dictionary.wordOf(term).length)
    }
  }
  for (const synonym of synonymsOf(part)) {
    for (const term of formsOf(synonym, dictionary).keys()) terms.set(term, SYNONYM_WEIGHT)
  }
  // "web hook" asks for "webhook".
  for (const joined of [(parts[at - 1] ?? "") + part, part + (parts[at + 1] ?? "")]) {
    const term = joined === part ? undefined : dictionary.find(joined)
    if (term !== undefined) terms.set(term, JOINED_WEIGHT)
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
