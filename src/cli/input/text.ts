import { parseJson } from "../../http-client/json.ts"
import { nameOf } from "./schema.ts"
import type { SchemaView } from "./schema.ts"

const NUMBER = /^-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?$/

/**
 * The value that a text stands for where a schema is known: text stays text where the schema wants text.
 *
 * What does not fit stays a text, so that validation says what is wrong with it.
 */
export function readText(text: string, view: SchemaView): unknown {
  const chosen = view.values?.find((value) => matchesValue(text, value))
  if (chosen !== undefined) return chosen
  const { types } = view
  if (types.size === 0) return view.isBinary ? text : loose(text)
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true"
  const number = types.has("number") || types.has("integer") ? numberOf(text) : undefined
  if (number !== undefined && (types.has("number") || Number.isInteger(number))) return number
  const json = bracketed(text)
  if (json !== undefined && types.has(nameOf(json))) return json
  // `null` is a word, too: where texts are allowed `:=null` says what is meant.
  if (text === "null" && types.has("null") && !types.has("string")) return null
  if (types.has("string") || !types.has("array")) return text
  return [readText(text, view.item(0))]
}

/** A number as JSON writes it, unless reading it would change it. */
function numberOf(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined
  const value = Number(text)
  if (!Number.isFinite(value)) return undefined
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? undefined : value
}

/** Whether a text is how somebody would type one of the allowed values. */
function matchesValue(text: string, value: unknown): boolean {
  return typeof value === "string" ? text === value : text === JSON.stringify(value)
}

/** Where the schema says nothing: what JSON would take it for, if it would. */
function loose(text: string): unknown {
  if (text === "true" || text === "false") return text === "true"
  if (text === "null") return null
  return numberOf(text) ?? bracketed(text) ?? text
}

/** A list or an object, written as JSON. */
function bracketed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  const parsed = parseJson(text)
  return parsed.is === "value" ? parsed.value : undefined
}
