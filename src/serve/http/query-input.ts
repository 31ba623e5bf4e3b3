import { refusal } from "../../core/errors.ts"
import { setOwn } from "../../schema/json.ts"
import type { JsonSchema } from "../../schema/json.ts"
import { itemsOf, objectProperties, typesOf } from "../../schema/read/properties.ts"

/**
 * How a value is written in a query: as text, as a number, boolean or `null`, once per item, or as JSON.
 *
 * JSON is for objects and for values of mixed types; invalid JSON is read as text.
 */
export type ParameterKind = "text" | "literal" | "list" | "json"

/** One parameter of a query. */
export interface QueryParameter {
  readonly name: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
  readonly kind: ParameterKind
}

/**
 * How an input is written in a query: one parameter per property or, if it is not an object, JSON in
 * the parameter `input`.
 */
export interface QueryForm {
  readonly parameters: readonly QueryParameter[]
  readonly isWhole: boolean
}

/** The parameter that carries a whole input. */
export const WHOLE_INPUT = "input"

/** Parses JSON; throws when it is invalid or nested too deeply. */
export type Parse = (text: string) => unknown

interface Reader {
  readonly form: QueryForm
  /** Types of the whole input; empty when its schema does not restrict them. */
  readonly types: ReadonlySet<string>
  readonly root: JsonSchema
  readonly byName: ReadonlyMap<string, QueryParameter>
  /** Applies to names that the schema does not declare. */
  readonly rest: QueryParameter
}

const readers = new WeakMap<object, Reader>()

/** The query form of an input schema. */
export function queryForm(inputSchema: JsonSchema): QueryForm {
  return readerOf(inputSchema).form
}

/** Reads an input from a query. Values of the wrong type stay as they are, for validation to report. */
export function readQueryInput(query: string, inputSchema: JsonSchema, parse: Parse): unknown {
  const { form, types, root, byName, rest } = readerOf(inputSchema)
  const given = parseQuery(query)
  if (form.isWhole) {
    const [text] = given.get(WHOLE_INPUT) ?? []
    if (text !== undefined) return parse(text)
    return types.has("null") ? null : undefined
  }
  if (given.size === 0 && types.size === 0) return undefined
  const input: Record<string, unknown> = {}
  for (const [name, values] of given) {
    const { schema, kind } = byName.get(name) ?? rest
    setOwn(input, name, valueOf(values, kind, { schema, root, parse }))
  }
  return input
}

/** Parses the parameters of a query, in order. Throws `VALIDATION_ERROR` for invalid percent-encoding. */
export function parseQuery(query: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const pair of query.split("&")) {
    if (pair === "") continue
    const at = pair.indexOf("=")
    const name = decoded(at < 0 ? pair : pair.slice(0, at))
    const value = at < 0 ? "" : decoded(pair.slice(at + 1))
    const known = found.get(name)
    if (known === undefined) found.set(name, [value])
    else known.push(value)
  }
  return found
}

function readerOf(schema: JsonSchema): Reader {
  let reader = readers.get(schema)
  if (reader === undefined) {
    reader = makeReader(schema)
    readers.set(schema, reader)
  }
  return reader
}

function makeReader(root: JsonSchema): Reader {
  const types = typesOf(root, root)
  // A schema without types accepts objects, too.
  const isWhole = !types.has("object") && types.size > 0
  const { properties, required, rest } = objectProperties(root)
  const parameters = [...properties].map(([name, schema]) => ({
    name,
    schema,
    isRequired: required.has(name),
    kind: kindOf(schema, root),
  }))
  return {
    form: { parameters: isWhole ? [] : parameters, isWhole },
    types,
    root,
    byName: new Map(parameters.map((one) => [one.name, one])),
    rest: { name: "", schema: rest, isRequired: false, kind: kindOf(rest, root) },
  }
}

function kindOf(schema: JsonSchema, root: JsonSchema): ParameterKind {
  const kind = ownKindOf(schema, root)
  if (kind !== "array") return kind
  const items = itemsOf(schema, root)
  const each = items === undefined ? "json" : ownKindOf(items, root)
  return each === "text" || each === "literal" ? "list" : "json"
}

/** The kind of a schema itself, without its items, which may be recursive. */
function ownKindOf(schema: JsonSchema, root: JsonSchema): "text" | "literal" | "json" | "array" {
  const types = typesOf(schema, root)
  const nonNull = [...types].filter((type) => type !== "null")
  if (nonNull.length === 0) return types.has("null") ? "literal" : "json"
  if (nonNull.every((type) => type === "string")) return "text"
  if (!nonNull.some((type) => type === "string" || type === "object" || type === "array")) {
    return "literal"
  }
  return nonNull.every((type) => type === "array") ? "array" : "json"
}

interface Place {
  readonly schema: JsonSchema
  readonly root: JsonSchema
  readonly parse: Parse
}

function valueOf(values: readonly string[], kind: ParameterKind, place: Place): unknown {
  if (kind === "list") {
    const schema = itemsOf(place.schema, place.root) ?? {}
    const itemKind = kindOf(schema, place.root)
    return values.map((text) => valueOf([text], itemKind, { ...place, schema }))
  }
  const types = typesOf(place.schema, place.root)
  const read = (text: string): unknown => {
    if (kind === "text") return text
    return kind === "literal" ? literalOf(text) : looseJson(text, types, place.parse)
  }
  const [only = ""] = values
  if (values.length > 1) return values.map(read)
  const value = read(only)
  // A list with a single item.
  const isItem = kind === "json" && isList(types) && !Array.isArray(value) && value !== null
  return isItem ? [value] : value
}

function isList(types: ReadonlySet<string>): boolean {
  return types.has("array") && (types.size === 1 || (types.size === 2 && types.has("null")))
}

const NUMBER = /^-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?$/

/** Parses a number, a boolean or `null`; returns other text unchanged. */
function literalOf(text: string): unknown {
  if (text === "true") return true
  if (text === "false") return false
  if (text === "null") return null
  const value = NUMBER.test(text) ? Number(text) : Number.NaN
  // Integers beyond the safe range stay text: parsing would change them.
  if (!Number.isFinite(value)) return text
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? text : value
}

/** Parses JSON of one of these types; returns other text unchanged. */
function looseJson(text: string, types: ReadonlySet<string>, parse: Parse): unknown {
  if (text.trim() === "") return text
  let value: unknown
  try {
    value = parse(text)
  } catch {
    return text
  }
  if (!types.has("string")) return value
  return types.has(typeOf(value)) ? value : text
}

function typeOf(value: unknown): string {
  if (value === null) return "null"
  return Array.isArray(value) ? "array" : typeof value
}

function decoded(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text
  if (!spaced.includes("%")) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    throw refusal("VALIDATION_ERROR", "The query of the URL is not valid percent-encoding.")
  }
}
