import { refusal } from "../core/errors.ts"
import { addToList } from "../internal/lists.ts"
import { LARGE_INTEGER, numberIn } from "../internal/number-text.ts"
import { perObject } from "../internal/per-object.ts"
import { jsonType, setOwn, type JsonSchema } from "../schema/json.ts"
import { SchemaView, viewOf } from "../schema/read/view.ts"

/**
 * How a value is written in a query: as text, as a number, boolean or `null`, once per item, or as JSON.
 *
 * JSON is for objects and for values of mixed types; invalid JSON is read as text.
 */
export type ParameterKind = "text" | "literal" | "list" | "json"

/** How a value is written, and which values can be meant. */
export interface QueryValue {
  readonly kind: ParameterKind
  /** JSON types, `integer` as `number`; empty when the schema does not restrict them. */
  readonly types: ReadonlySet<string>
  /** How each value of a list is written. */
  readonly item?: QueryValue
}

/** One parameter of a query. */
export interface QueryParameter extends QueryValue {
  readonly name: string
  readonly isRequired: boolean
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

/** Parses JSON; throws when it is invalid, nested too deeply, or has an integer that a number would change. */
export type Parse = (text: string) => unknown

interface Reader {
  readonly form: QueryForm
  /** Types of the whole input; empty when its schema does not restrict them. */
  readonly types: ReadonlySet<string>
  readonly byName: ReadonlyMap<string, QueryValue>
  /** Applies to names that the schema does not declare. */
  readonly rest: QueryValue
}

/** The query form of an input schema. */
export function queryForm(inputSchema: JsonSchema): QueryForm {
  return readerOf(inputSchema).form
}

/** Reads an input from a query. Values of the wrong type stay as they are, for validation to report. */
export function readQueryInput(query: string, inputSchema: JsonSchema, parse: Parse): unknown {
  return readFormInput(parseQuery(query), inputSchema, parse)
}

/** Reads an input from the texts of a form, by name, in the same way. */
export function readFormInput(
  texts: ReadonlyMap<string, readonly string[]>,
  inputSchema: JsonSchema | SchemaView,
  parse: Parse,
): unknown {
  const { form, types, byName, rest } = readerOf(inputSchema)
  if (form.isWhole) {
    const [text] = texts.get(WHOLE_INPUT) ?? []
    if (text !== undefined) return parse(text)
    return types.has("null") ? null : undefined
  }
  if (texts.size === 0 && types.size === 0) return undefined
  const input: Record<string, unknown> = {}
  for (const [name, values] of texts) {
    setOwn(input, name, valueOf(values, byName.get(name) ?? rest, parse))
  }
  return input
}

/** Parses the parameters of a query, in order. Throws `VALIDATION_ERROR` for invalid percent-encoding. */
export function parseQuery(query: string): Map<string, string[]> {
  const parameters = new Map<string, string[]>()
  for (const pair of query.split("&")) {
    if (pair === "") continue
    const at = pair.indexOf("=")
    const name = decoded(at < 0 ? pair : pair.slice(0, at))
    const value = at < 0 ? "" : decoded(pair.slice(at + 1))
    addToList(parameters, name, value)
  }
  return parameters
}

const readerOf = perObject((schema: JsonSchema | SchemaView): Reader => {
  const view = schema instanceof SchemaView ? schema : viewOf(schema)
  const { types } = view
  // A schema without types accepts objects, too.
  const isWhole = !types.has("object") && types.size > 0
  const required = new Set(view.required)
  const parameters = view.names.map((name) => ({
    name,
    isRequired: required.has(name),
    ...queryValue(view.property(name)),
  }))
  return {
    form: { parameters: isWhole ? [] : parameters, isWhole },
    types,
    byName: new Map(parameters.map((one) => [one.name, one])),
    rest: queryValue(view.rest ?? viewOf({})),
  }
})

function queryValue(view: SchemaView): QueryValue {
  const types = jsonTypesOf(view)
  const kind = kindOf(types)
  if (kind !== "array") return { kind, types }
  const itemTypes = jsonTypesOf(view.item(0))
  const each = view.isTuple ? "json" : kindOf(itemTypes)
  if (each !== "text" && each !== "literal") return { kind: "json", types }
  return { kind: "list", types, item: { kind: each, types: itemTypes } }
}

function jsonTypesOf({ types }: SchemaView): ReadonlySet<string> {
  return new Set([...types].map((type) => (type === "integer" ? "number" : type)))
}

function kindOf(types: ReadonlySet<string>): "text" | "literal" | "json" | "array" {
  const nonNull = [...types].filter((type) => type !== "null")
  if (nonNull.length === 0) return types.has("null") ? "literal" : "json"
  if (nonNull.every((type) => type === "string")) return "text"
  if (!nonNull.some((type) => type === "string" || type === "object" || type === "array")) {
    return "literal"
  }
  return nonNull.every((type) => type === "array") ? "array" : "json"
}

function valueOf(
  values: readonly string[],
  { kind, types, item }: QueryValue,
  parse: Parse,
): unknown {
  if (item !== undefined) return values.map((text) => valueOf([text], item, parse))
  const read = (text: string): unknown => {
    if (kind === "text") return text
    return kind === "literal" ? literalOf(text, parse) : looseJson(text, types, parse)
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

/** Parses a number, a boolean or `null`; returns other text unchanged. */
function literalOf(text: string, parse: Parse): unknown {
  if (text === "true") return true
  if (text === "false") return false
  if (text === "null") return null
  return numberIn(text) ?? (LARGE_INTEGER.test(text) ? parse(text) : text)
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
  return types.has(jsonType(value)) ? value : text
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
