import { parseExact } from "../../http-client/exact-json.ts"
import { parseJson } from "../../http-client/json.ts"
import { LARGE_INTEGER, numberIn } from "../../internal/number-text.ts"
import { jsonType } from "../../schema/json.ts"
import type { SchemaView } from "../../schema/read/view.ts"

/**
 * Converts a text to a value according to a schema: text stays text if the schema is a string.
 *
 * Text that does not fit stays text, so that validation reports it.
 */
export function readText(text: string, view: SchemaView): unknown {
  const chosen = view.values?.find((value) => matchesValue(text, value))
  if (chosen !== undefined) return chosen
  const { types } = view
  if (types.size === 0) return view.isBinary ? text : loose(text)
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true"
  const number = types.has("number") || types.has("integer") ? numberIn(text) : undefined
  if (number !== undefined && (types.has("number") || Number.isInteger(number))) return number
  // An id that a number would round is that of another thing.
  const isNumeric = types.has("number") || types.has("integer")
  if (isNumeric && !types.has("string") && LARGE_INTEGER.test(text)) return parseExact(text)
  const json = bracketed(text)
  if (json !== undefined && types.has(jsonType(json))) return json
  // `null` could be a word: if strings are allowed, use `:=null`.
  if (text === "null" && types.has("null") && !types.has("string")) return null
  if (types.has("string") || !types.has("array")) return text
  return [readText(text, view.item(0))]
}

/** Whether a text is the typed form of an allowed value. */
function matchesValue(text: string, value: unknown): boolean {
  return typeof value === "string" ? text === value : text === JSON.stringify(value)
}

/** Without a type in the schema: parses JSON values, and keeps other text. */
function loose(text: string): unknown {
  if (text === "true" || text === "false") return text === "true"
  if (text === "null") return null
  return numberIn(text) ?? bracketed(text) ?? text
}

/** Parses a JSON list or object. */
function bracketed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  const parsed = parseJson(text)
  if (parsed.is !== "value") return undefined
  return parsed.bigIntegers === undefined ? parsed.value : parseExact(text)
}
