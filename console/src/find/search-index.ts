import type { OperationSummary } from "../api/model.ts"
import { plain, tokensOf, words } from "./words.ts"

/** Searches operations; created once per list. */
export interface SearchIndex {
  /** The best matches first; all operations, in their order, for an empty query. */
  search(query: string): readonly OperationSummary[]
}

/** The texts of an operation as they are searched: lower-case, words between single spaces. */
interface Entry {
  readonly operation: OperationSummary
  readonly id: string
  readonly name: string
  readonly idWords: string
  readonly title: string
  readonly tags: string
  readonly description: string
}

interface Hit {
  readonly entry: Entry
  readonly score: number
}

/** Characters of a description that are searched. */
const MAX_DESCRIPTION = 600
/** Minimum length of a fuzzy query: shorter ones would match almost anything. */
const MIN_FUZZY_LENGTH = 3

/** The weights of matches. The sum of lower ones never exceeds the next higher one. */
const WEIGHTS = {
  sameId: 4000,
  sameName: 2000,
  idPrefix: 1200,
  namePrefix: 900,
  phrase: 300,
  idWord: 120,
  idWordStart: 90,
  idPart: 50,
  titleStart: 24,
  titlePart: 14,
  tag: 12,
  descriptionStart: 5,
  descriptionPart: 2,
  deprecated: -40,
}

/** Makes an index. A few thousand operations take some milliseconds, a search of them one or two. */
export function createSearchIndex(operations: readonly OperationSummary[]): SearchIndex {
  const entries = operations.map(entryOf)
  return {
    search(query) {
      const whole = plain(query).trim()
      if (whole === "") return operations
      const tokens = tokensOf(whole)
      const hits = tokens.length === 0 ? [] : rank(entries, whole, tokens)
      const found = hits.length > 0 ? hits : fuzzy(entries, whole)
      return found.toSorted(byScore).map(({ entry }) => entry.operation)
    },
  }
}

function entryOf(operation: OperationSummary): Entry {
  const { id, name, title = "", tags = [], description, source = "" } = operation
  return {
    operation,
    id: plain(id),
    name: plain(name),
    idWords: words(id),
    title: words(title),
    tags: words([...tags, source].join(" ")),
    description: words(description.slice(0, MAX_DESCRIPTION)),
  }
}

function rank(entries: readonly Entry[], whole: string, tokens: readonly string[]): Hit[] {
  const phrase = ` ${tokens.join(" ")}`
  const hits: Hit[] = []
  for (const entry of entries) {
    let score = wholeScore(entry, whole, phrase)
    let isFound = true
    for (const token of tokens) {
      const worth = tokenScore(entry, token)
      if (worth === 0) {
        isFound = false
        break
      }
      score += worth
    }
    if (!isFound) continue
    if (entry.operation.deprecated === true) score += WEIGHTS.deprecated
    hits.push({ entry, score })
  }
  return hits
}

function wholeScore({ id, name, idWords }: Entry, whole: string, phrase: string): number {
  if (id === whole) return WEIGHTS.sameId
  if (name === whole) return WEIGHTS.sameName
  if (id.startsWith(whole)) return WEIGHTS.idPrefix
  if (name.startsWith(whole)) return WEIGHTS.namePrefix
  return idWords.includes(phrase) ? WEIGHTS.phrase : 0
}

function tokenScore(entry: Entry, token: string): number {
  const start = ` ${token}`
  if (entry.idWords.includes(start)) {
    return entry.idWords.includes(`${start} `) ? WEIGHTS.idWord : WEIGHTS.idWordStart
  }
  if (entry.id.includes(token)) return WEIGHTS.idPart
  if (entry.title.includes(start)) return WEIGHTS.titleStart
  if (entry.title.includes(token)) return WEIGHTS.titlePart
  if (entry.tags.includes(start)) return WEIGHTS.tag
  if (entry.description.includes(start)) return WEIGHTS.descriptionStart
  return entry.description.includes(token) ? WEIGHTS.descriptionPart : 0
}

/** Ids that have the letters in their order, the closer together the better: `ghisscr`. */
function fuzzy(entries: readonly Entry[], whole: string): Hit[] {
  const letters = whole.replaceAll(/\s+/g, "")
  if (letters.length < MIN_FUZZY_LENGTH) return []
  const hits: Hit[] = []
  for (const entry of entries) {
    const spread = spreadOf(entry.id, letters)
    if (spread !== undefined) hits.push({ entry, score: -spread })
  }
  return hits
}

function spreadOf(text: string, letters: string): number | undefined {
  let at = -1
  let first = -1
  for (const letter of letters) {
    at = text.indexOf(letter, at + 1)
    if (at === -1) return undefined
    if (first === -1) first = at
  }
  return at - first
}

function byScore(a: Hit, b: Hit): number {
  if (a.score !== b.score) return b.score - a.score
  if (a.entry.id.length !== b.entry.id.length) return a.entry.id.length - b.entry.id.length
  return a.entry.id < b.entry.id ? -1 : 1
}
