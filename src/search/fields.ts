import { MAX_FIELD_WORDS, MAX_TEXT_LENGTH, readWords } from "./tokenize.ts"
import { STOP_WORDS, stem } from "./words.ts"

/** The indexed fields of an operation. */
export interface SearchDocument {
  /** `namespace.name`; the first dot separates. */
  readonly id: string
  readonly title?: string | undefined
  readonly description: string
  readonly tags?: readonly string[] | undefined
  readonly inputNames?: readonly string[] | undefined
  /** The path of its HTTP request, with placeholders in braces. */
  readonly path?: string | undefined
  /** A description of the thing that it takes or returns, such as that of a schema. */
  readonly subject?: string | undefined
  /** Whether it changes nothing; `undefined` if that is not known. */
  readonly readsOnly?: boolean | undefined
}

interface Field {
  readonly weight: number
  /** The typical number of words: fixed, so that a document never changes the weights of others. */
  readonly typicalLength: number
  /** How much less a longer field counts, 0 to 1. */
  readonly slope: number
  /** A field shorter than usual is read as if it were this share of the usual length; no limit unless given. */
  readonly minShare?: number
  /** Whether a repeated word counts once: `messages.message` is a path, not an emphasis. */
  readonly once?: true
}

const NAMESPACE: Field = { weight: 4, typicalLength: 1, slope: 0.2, once: true }
const NAME: Field = { weight: 6, typicalLength: 4, slope: 0.8, once: true }
const TITLE: Field = { weight: 4, typicalLength: 5, slope: 0.8, minShare: 0.5 }
/** The first sentence of a description. It serves as the title if there is none. */
const LEAD: Field = { weight: 1.25, typicalLength: 8, slope: 0.5, minShare: 1 }
const ONLY_LEAD: Field = { ...LEAD, weight: 2.5 }
const TAGS: Field = { weight: 2, typicalLength: 2, slope: 0.5, once: true }
const INPUTS: Field = { weight: 1, typicalLength: 8, slope: 0.6, once: true }
/** The fixed segments of the path; a path often says more than the name and title. */
const PATH: Field = { weight: 3, typicalLength: 5, slope: 0.8, once: true }
const DESCRIPTION: Field = { weight: 1, typicalLength: 20, slope: 0.6 }
/** The first sentence alone: it says what the thing is. */
const SUBJECT: Field = { weight: 1, typicalLength: 12, slope: 0.6 }

/** Where a word's weight is worth half of the most it can be: the `k1` of BM25. */
const HALF_WEIGHT = 4

/** A word's share in a document, from 1 to this. */
export const MAX_IMPACT = 255

/**
 * Every word of a document with its impact, 1 to `MAX_IMPACT`: the BM25F term weight, its fields
 * and the forms of one stem added up before they saturate. Those that name the operation come first.
 */
export function impactsOf(document: SearchDocument): Map<string, number> {
  const weights = new Map<string, number>(namingWords(document).map((word) => [word, 0]))
  const dot = document.id.indexOf(".")
  addField(weights, NAMESPACE, identifierWords([document.id.slice(0, Math.max(dot, 0))]))
  addField(weights, NAME, identifierWords([document.id.slice(dot + 1)]))
  const title = proseWords(document.title ?? "")
  const description = proseOf(document.description)
  addField(weights, TITLE, title)
  const end = endOfLead(description)
  addField(weights, title.length > 0 ? LEAD : ONLY_LEAD, proseWords(description.slice(0, end)))
  addField(weights, TAGS, identifierWords(document.tags ?? []))
  addField(weights, INPUTS, identifierWords(document.inputNames ?? []))
  addField(weights, PATH, identifierWords(fixedPieces(document.path ?? "")))
  addField(weights, DESCRIPTION, proseWords(description.slice(end)))
  const subject = proseOf(document.subject ?? "")
  addField(weights, SUBJECT, proseWords(subject.slice(0, endOfLead(subject))))
  return saturated(weights)
}

/** What a document does, as a number; 0 if that is not known. */
export const READS = 1
export const CHANGES = 2

export function effectOf({ readsOnly }: SearchDocument): number {
  return readsOnly === undefined ? 0 : readsOnly ? READS : CHANGES
}

/** The different words of the name, without stop words and versions, and of the last fixed segment of the path. */
export function namingWords({ id, path = "" }: SearchDocument): string[] {
  const name = identifierWords([id.slice(id.indexOf(".") + 1)])
  const significant = name.filter((word) => !STOP_WORDS.has(word) && !/^v\d/.test(word))
  const segment = path.split("/").findLast((one) => one !== "" && !/^\{.*\}$/.test(one)) ?? ""
  return [...new Set([...significant, ...identifierWords(fixedPieces(segment))])]
}

/** The weights of words, each with those of its other forms added, brought to the range of impacts. */
function saturated(weights: Map<string, number>): Map<string, number> {
  const stems: string[] = []
  const stemWeights = new Map<string, number>()
  for (const [word, weight] of weights) {
    const base = stem(word)
    stems.push(base)
    addWeight(stemWeights, base, weight)
  }
  let at = 0
  for (const word of weights.keys()) {
    const weight = stemWeights.get(stems[at++]!)!
    const share = weight / (weight + HALF_WEIGHT)
    weights.set(word, Math.max(1, Math.round(share * MAX_IMPACT)))
  }
  return weights
}

function addField(weights: Map<string, number>, field: Field, words: readonly string[]): void {
  const length = Math.max(
    1 - field.slope + (field.slope * words.length) / field.typicalLength,
    field.minShare ?? 0,
  )
  const weight = field.weight / length
  const counted = new Set<string>()
  for (const word of words) {
    const base = field.once ? stem(word) : word
    addWeight(weights, word, field.once && counted.has(base) ? 0 : weight)
    if (field.once) counted.add(base)
  }
}

function addWeight(weights: Map<string, number>, word: string, weight: number): void {
  weights.set(word, (weights.get(word) ?? 0) + weight)
}

const MAX_LEAD = 300

/** A description without HTML tags and link addresses. */
function proseOf(text: string): string {
  // Most have none, and a description can have megabytes.
  const start = text.slice(0, MAX_TEXT_LENGTH)
  if (!/[<(]/.test(start)) return start
  return start.replaceAll(/<\/?[a-z][^<>]{0,300}>|\]\([^()\s]{0,300}\)/gi, " ")
}

/** Where the first sentence, or a similar unit, ends. */
function endOfLead(prose: string): number {
  const end = prose.slice(0, MAX_LEAD).search(/(?<=\S)(?:[.!?](?:\s|$)|\n\s*\n)/)
  return end < 0 ? Math.min(prose.length, MAX_LEAD) : end
}

/** The pieces of a path between its placeholders. */
function fixedPieces(path: string): string[] {
  return path.split(/[{}]/).filter((_, at) => at % 2 === 0)
}

function identifierWords(texts: readonly string[]): string[] {
  const words: string[] = []
  for (const text of texts) {
    if (words.length >= MAX_FIELD_WORDS) break
    readWords(text, true, (parts) => {
      words.push(...parts)
      return words.length < MAX_FIELD_WORDS
    })
  }
  return words
}

function proseWords(text: string): string[] {
  const words: string[] = []
  readWords(text, true, (parts) => {
    for (const part of parts) if (!STOP_WORDS.has(part)) words.push(part)
    // "GitHub" and "OpenAPI" are looked for as one word.
    if (parts.length === 2) words.push(parts.join(""))
    return words.length < MAX_FIELD_WORDS
  })
  return words
}
