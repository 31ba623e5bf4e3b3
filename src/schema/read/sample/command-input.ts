import { isRecord } from "../../../internal/guards.ts"
import { flatten, propertiesOf } from "../flatten.ts"
import { scopeOf } from "../resolve-ref.ts"
import type { Part } from "../resolve-ref.ts"
import { choicesOf, typesOf } from "../types.ts"
import { shellWord } from "../../../internal/shell.ts"

// Longer inputs are more readable as JSON.
const MAX_ARGUMENTS = 8

/**
 * The words after `operations call <id>` that give an input.
 *
 * `key=value` where the command converts the text to the same value by the schema, `key:=json` where it may not,
 * and `--input` for unusual names or many values.
 */
export function commandInput(input: unknown, schema: unknown): readonly string[] {
  if (input === undefined) return []
  const root = { schema, scope: scopeOf(schema) }
  const words = isRecord(input) ? objectWords("", input, root) : undefined
  if (words !== undefined && words.length <= MAX_ARGUMENTS) return words.map(shellWord)
  return ["--input", shellWord(jsonText(input))]
}

function wordsOf(key: string, value: unknown, part: Part): readonly string[] {
  const json = [`${key}:=${jsonText(value)}`]
  if (Array.isArray(value)) return listWords(key, value, part) ?? json
  if (isRecord(value) && Object.keys(value).length > 0) {
    return objectWords(`${key}.`, value, part) ?? json
  }
  return isReadBack(value, part) ? [`${key}=${typed(value)}`] : json
}

/** The words for the properties of an object; `undefined` if one has no word. */
function objectWords(
  prefix: string,
  value: Readonly<Record<string, unknown>>,
  part: Part,
): readonly string[] | undefined {
  const words: string[] = []
  for (const [name, item] of Object.entries(value)) {
    const inner = propertyOf(part, name)
    // Other names may have a meaning for the command.
    if (inner === undefined || !isPlainName(name)) return undefined
    words.push(...wordsOf(`${prefix}${name}`, item, inner))
  }
  return words
}

function listWords(
  key: string,
  items: readonly unknown[],
  part: Part,
): readonly string[] | undefined {
  const item = itemOf(part)
  if (item === undefined || items.length === 0) return undefined
  if (!items.every((value) => isReadBack(value, item))) return undefined
  return items.map((value) => `${key}[]=${typed(value)}`)
}

/** A text that begins with @ would be read as a file name. */
function typed(value: unknown): string {
  const text = String(value)
  return text.startsWith("@") ? `@${text}` : text
}

/** Whether the command reads the argument as the same value. */
function isReadBack(value: unknown, part: Part): boolean {
  const flat = flatten([part])
  const [type, ...others] = typesOf(flat).filter((one) => one !== "null")
  if (type === undefined || others.length > 0 || choicesOf(flat).length > 0) return false
  switch (typeof value) {
    case "string":
      return type === "string" && !value.includes("\0")
    case "number":
      return (type === "number" || type === "integer") && /^-?\d{1,15}(?:\.\d+)?$/.test(`${value}`)
    case "boolean":
      return type === "boolean"
    default:
      return false
  }
}

/** The schema of a property, if it is unambiguous. */
function propertyOf(part: Part, name: string): Part | undefined {
  const flat = flatten([part])
  if (choicesOf(flat).length > 0) return undefined
  const parts = propertiesOf(flat).get(name)
  return parts?.length === 1 ? parts[0] : undefined
}

function itemOf(part: Part): Part | undefined {
  const flat = flatten([part])
  const layers = flat.layers.filter(({ schema }) => isRecord(schema["items"]))
  const hasPlaces = flat.layers.some(({ schema }) => schema["prefixItems"] !== undefined)
  const [only, ...others] = layers
  if (only === undefined || others.length > 0 || hasPlaces) return undefined
  return { schema: only.schema["items"], scope: only.scope }
}

/** JSON in which integers beyond 2^53 keep their digits. */
function jsonText(value: unknown): string {
  if (typeof value === "bigint") return String(value)
  if (Array.isArray(value)) return `[${value.map(jsonText).join()}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? "null"
  const members = Object.entries(value).filter(([, item]) => item !== undefined)
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${jsonText(item)}`).join()}}`
}

function isPlainName(name: string): boolean {
  return /^[A-Za-z_][\w-]*$/.test(name) && name !== "__proto__"
}
