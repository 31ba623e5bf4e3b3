import { CallError, type CallErrorOptions } from "../../core/errors.ts"
import { placeAt } from "../../internal/located.ts"
import {
  CORE_SCHEMA,
  EVENT_ID,
  YAMLException,
  constructFromEvents,
  mergeTag,
  parseEvents,
} from "js-yaml"
import { reasonOf } from "../../internal/message-text.ts"
import { MAX_DEPTH, measureExpansion } from "./size-limits.ts"

// YAML 1.2: `2024-01-01` and `no` stay text. Merge keys are from 1.1, but documents use them.
const SCHEMA = CORE_SCHEMA.withTags(mergeTag)
const MAX_MERGED_KEYS = 200_000
// Sharing parts is fine up to this size; unlimited expansion is an attack on memory.
const FREE_EXPANSION = 1_000_000
const MAX_EXPANSION = 10
// Maximum number of characters that are parsed again after repairing a line.
const MAX_REPARSED = 64 * 1024 * 1024
const FAR_RIGHT = " ".repeat(80)

/** Reads one YAML document; throws a `CallError` with line and column. */
export function readYaml(text: string, what: string): { value: unknown; warnings: string[] } {
  const warnings: string[] = []
  try {
    const { events, source } = tokenize(text, what, warnings)
    const documents = construct(source, events, what, warnings)
    if (documents.length !== 1) throw countError(documents.length, what)
    if (events.some((event) => event.type === EVENT_ID.ALIAS)) refuseBomb(documents[0], what)
    return { value: documents[0], warnings }
  } catch (thrown) {
    throw asCallError(thrown, what)
  }
}

type Events = ReturnType<typeof parseEvents>

/**
 * Parses a text to events; returns them with the text that they point into.
 *
 * YAML requires each line of `{…}`, `[…]` and `"…"` to be indented more than its key. Many documents put the
 * closing bracket below the key, and many parsers accept that; Docker's is one. White space has no meaning at
 * the start of such a line, so the line is indented.
 */
function tokenize(
  text: string,
  what: string,
  warnings: string[],
): { readonly events: Events; readonly source: string } {
  let source = text
  const mended: number[] = []
  for (let work = 0; ; work += text.length) {
    try {
      const events = parseEvents(source, { maxDepth: MAX_DEPTH })
      if (mended[0] !== undefined) {
        warnings.push(
          `${what} has lines of a value that are not indented further than its key, the first at line ${mended[0]}; they were read as if they were.`,
        )
      }
      return { events, source }
    } catch (thrown) {
      const mark = thrown instanceof YAMLException ? thrown.mark : undefined
      const isMendable = (thrown as YAMLException).reason === "deficient indentation"
      if (mark === undefined || !isMendable || work > MAX_REPARSED) throw thrown
      mended.push(mark.line + 1)
      const start = source.lastIndexOf("\n", mark.position - 1) + 1
      source = source.slice(0, start) + FAR_RIGHT + source.slice(start)
    }
  }
}

function construct(text: string, events: Events, what: string, warnings: string[]): unknown[] {
  const options = { source: text, schema: SCHEMA, maxTotalMergeKeys: MAX_MERGED_KEYS }
  try {
    return constructFromEvents(events, options)
  } catch (thrown) {
    if (!(thrown instanceof YAMLException) || thrown.reason !== "duplicated mapping key")
      throw thrown
    const { line, column, excerpt } = placeOf(thrown) ?? UNKNOWN_PLACE
    warnings.push(
      `${what} has a key twice in one mapping, at line ${line}, column ${column} (${excerpt}); the last one counts, as in JSON.`,
    )
    return constructFromEvents(events, { ...options, json: true })
  }
}

const UNKNOWN_PLACE: TextPosition = { line: 1, column: 1, excerpt: "" }

function refuseBomb(value: unknown, what: string): void {
  const expansion = measureExpansion(value)
  if (expansion.kind === "cycle") {
    throw invalidDocument(
      `${what} has a YAML alias inside of its own anchor, which would never end. Use "$ref" for recursive parts.`,
    )
  }
  if (expansion.kind === "deep") throw tooDeep(what)
  if (expansion.expanded > FREE_EXPANSION + MAX_EXPANSION * expansion.written) {
    throw invalidDocument(
      `${what} has YAML aliases that would expand its ${expansion.written} values to ${expansion.expanded}. Use "$ref" for shared parts.`,
    )
  }
}

function asCallError(thrown: unknown, what: string): CallError {
  if (thrown instanceof CallError) return thrown
  if (thrown instanceof RangeError) return tooDeep(what)
  if (!(thrown instanceof YAMLException)) {
    return invalidDocument(`${what} cannot be read as YAML: ${reasonOf(thrown)}.`, {
      cause: thrown,
    })
  }
  if (thrown.reason.startsWith("nesting exceeded")) return tooDeep(what)
  const place = placeOf(thrown)
  const where =
    place === undefined ? "" : ` at line ${place.line}, column ${place.column} (${place.excerpt})`
  const cure = /^unknown \w+ tag/.test(thrown.reason)
    ? " Tags other than those of JSON's own types cannot be read; remove it."
    : ""
  // The parser's own error is left out: it contains the whole text.
  return invalidDocument(`${what} is neither JSON nor YAML: ${thrown.reason}${where}.${cure}`, {
    details: place,
  })
}

function placeOf({ mark }: YAMLException): TextPosition | undefined {
  return mark === undefined ? undefined : positionAt(mark.buffer, mark.position)
}

function countError(count: number, what: string): CallError {
  return count === 0
    ? invalidDocument(`${what} is empty.`)
    : invalidDocument(
        `${what} has ${count} YAML documents, separated by "---". Pass the one that describes the API.`,
      )
}

/** The error for a document that is nested too deep. */
export function tooDeep(what: string, cure = ""): CallError {
  return invalidDocument(`${what} is nested deeper than ${MAX_DEPTH} levels.${cure}`)
}

/** A place in a text, counted from one, with an excerpt. */
export interface TextPosition {
  readonly line: number
  readonly column: number
  readonly excerpt: string
}

const AROUND = 40

/** The line and column of a character, and the text around it. */
export function positionAt(text: string, offset: number): TextPosition {
  const { line, column } = placeAt(text, offset)
  const at = Math.min(Math.max(offset, 0), text.length)
  return { line, column, excerpt: excerptAt(text, at - column + 1, at) }
}

// The line of a minified document is the whole document.
function excerptAt(text: string, lineStart: number, at: number): string {
  const end = text.indexOf("\n", at)
  const lineEnd = end === -1 ? text.length : end
  return text.slice(Math.max(lineStart, at - AROUND), Math.min(lineEnd, at + AROUND)).trim()
}

/** The error for a document that cannot be imported. */
export function invalidDocument(message: string, options?: CallErrorOptions): CallError {
  return new CallError("VALIDATION_ERROR", message, options)
}
