// From JSON Schema 2020-12 to what the form library draws, a bounded tree without references.

import { emptyOf } from "./initial.ts"
import { isRecord } from "../../../../src/internal/guards.ts"
import { isSchema, setOwn } from "../../../../src/schema/json.ts"
import { namedSchemas, own, schemasUnder, stringsUnder, textOf, typesOf } from "./json.ts"
import type { JsonRecord, JsonSchema } from "./json.ts"
import { merged } from "./merge.ts"
import { asUnion } from "./unions.ts"

/** The name of the field that edits a value as JSON text, if no other field can. */
export const JSON_FIELD = "JsonField"
/** The name of the field for a text or a number. */
export const SCALAR_FIELD = "ScalarField"

/** A schema for the form, and what the form cannot show. */
export interface FormSchema {
  readonly schema: JsonRecord
  /** Names of properties that are left to the JSON editor. */
  readonly hidden: readonly string[]
}

/** Maximum depth; deeper parts of a recursive schema are edited as JSON text. */
const MAX_DEPTH = 7
/** Maximum number of fields; nobody fills in more by hand. */
const MAX_NODES = 1500
/** Maximum number of properties of an object; the rest is left to the JSON editor. */
const MAX_PROPERTIES = 300

/**
 * Keywords that the form understands and that contain no schema, by the type of their value.
 *
 * A value of another type would break the form: `"title": {}`, `"minItems": "2"`.
 */
const PLAIN: Readonly<Record<string, readonly string[]>> = {
  string: ["title", "description", "format", "pattern"],
  boolean: ["uniqueItems", "readOnly", "writeOnly", "deprecated"],
  number: [
    ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
    ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"],
  ],
}

/** Creates the form's schema. Pure; any schema gives a tree of bounded size. */
export function toFormSchema(root: JsonSchema): FormSchema {
  const state: State = { root, nodes: 0, hidden: [] }
  const schema = convert(root, state, 0)
  return { schema, hidden: state.hidden }
}

interface State {
  readonly root: JsonSchema
  nodes: number
  readonly hidden: string[]
}

function convert(source: JsonSchema, state: State, depth: number): JsonRecord {
  const schema = merged(state.root, source)
  if (schema === undefined) return asJson({})
  if (++state.nodes > MAX_NODES || depth > MAX_DEPTH) {
    return isScalar(schema) ? scalar(schema) : asJson(schema)
  }
  const union = asUnion(schema, state.root)
  if (union.kind === "choice") return textOrNumber(union) ?? choice(union, state, depth)
  return single(union.schema, union.nullable, state, depth)
}

/** A value of one kind. */
function single(schema: JsonRecord, nullable: boolean, state: State, depth: number): JsonRecord {
  const type = kindOf(schema)
  const converted =
    type === "object"
      ? object(schema, state, depth)
      : type === "array"
        ? array(schema, state, depth)
        : type === undefined
          ? asJson(schema)
          : scalar(schema)
  if (!nullable || converted["$id"] !== undefined) return converted
  return { ...converted, type: [converted["type"], "null"] }
}

/** A choice of plain texts and numbers as one field: the entered text decides the type. */
function textOrNumber({
  schema,
  options,
}: Extract<ReturnType<typeof asUnion>, { kind: "choice" }>): JsonRecord | undefined {
  const types = options.map(({ schema: option }) =>
    isRecord(option) && !ODD.some((keyword) => keyword in option) ? typesOf(option) : [],
  )
  const isPlain = types.every(([type, ...more]) => SCALARS.has(type ?? "") && more.length === 0)
  if (!isPlain || "properties" in schema) return undefined
  return { ...annotations(schema), $id: SCALAR_FIELD, type: types.flat() }
}

const SCALARS: ReadonlySet<string> = new Set(["string", "number", "integer"])
const ODD = ["$ref", "allOf", "enum", "const", "format"] as const

/** A choice of schemas, each with a distinct name. */
function choice(
  { schema, keyword, options }: Extract<ReturnType<typeof asUnion>, { kind: "choice" }>,
  state: State,
  depth: number,
): JsonRecord {
  const properties = Object.hasOwn(schema, "properties")
  const outside = properties ? object(schema, state, depth) : annotations(schema)
  const converted = options.map(({ schema: option, title }) => ({
    ...convert(option, state, depth + 1),
    title,
  }))
  const whole: Record<string, unknown> = { ...outside, [keyword]: converted }
  const { propertyName } = (own(schema, "discriminator") ?? {}) as { propertyName?: unknown }
  if (typeof propertyName === "string") whole["discriminator"] = { propertyName }
  return whole
}

function object(schema: JsonRecord, state: State, depth: number): JsonRecord {
  const properties = namedSchemas(schema, "properties")
  const extra = extraProperties(schema)
  if (properties.length === 0 && extra === undefined && !hasConditions(schema)) {
    // Declared properties, even an empty list, define the fields.
    const isClosed = own(schema, "additionalProperties") === false
    return isClosed || isRecord(own(schema, "properties"))
      ? { ...annotations(schema), type: "object", properties: {} }
      : asJson(schema)
  }
  const required = new Set(stringsUnder(schema, "required"))
  const shownProperties = {}
  state.hidden.push(...properties.slice(MAX_PROPERTIES).map(([name]) => name))
  const isRequired = ([name]: readonly [string, JsonSchema]): boolean => required.has(name)
  const shown = properties.slice(0, MAX_PROPERTIES)
  for (const [name, child] of [
    ...shown.filter(isRequired),
    ...shown.filter((one) => !isRequired(one)),
  ]) {
    // Every object inherits these: the form would take the inherited one for a value.
    if (name in Object.prototype) state.hidden.push(name)
    // The server sets a read-only property, and ignores or refuses it in an input.
    else if (own(merged(state.root, child), "readOnly") === true) continue
    else setOwn(shownProperties, name, property(child, required.has(name), state, depth))
  }
  const whole: Record<string, unknown> = { ...annotations(schema), type: "object" }
  if (properties.length > 0) whole["properties"] = shownProperties
  if (required.size > 0)
    whole["required"] = [...required].filter((name) => Object.hasOwn(shownProperties, name))
  if (extra !== undefined) {
    whole["additionalProperties"] = newItem(extra, convert(extra, state, depth + 1), state)
  }
  return Object.assign(whole, conditions(schema, state, depth))
}

/** A property. A required one with only one possible value starts with it. */
function property(child: JsonSchema, isRequired: boolean, state: State, depth: number): JsonRecord {
  const converted = convert(child, state, depth + 1)
  const fixed = own(converted, "const")
  return isRequired && fixed !== undefined ? { ...converted, default: fixed } : converted
}

/** The schema of additional properties; `undefined` if there are none, or anything is allowed. */
function extraProperties(schema: JsonRecord): JsonSchema | undefined {
  const extra = own(schema, "additionalProperties")
  if (isRecord(extra) && Object.keys(extra).length > 0) return extra
  const [pattern, ...more] = namedSchemas(schema, "patternProperties")
  return pattern !== undefined && more.length === 0 ? pattern[1] : undefined
}

function hasConditions(schema: JsonRecord): boolean {
  return ["if", "dependentSchemas"].some((keyword) => isRecord(own(schema, keyword)))
}

/** The conditions that the form supports, with the keywords of an older draft. */
function conditions(schema: JsonRecord, state: State, depth: number): JsonRecord {
  const keywords: Record<string, unknown> = {}
  const condition = own(schema, "if")
  if (isRecord(condition)) {
    keywords["if"] = plainCondition(condition)
    for (const keyword of ["then", "else"]) {
      const part = own(schema, keyword)
      if (isRecord(part)) keywords[keyword] = branch(part, state, depth)
    }
  }
  const dependencies = {}
  for (const [name, part] of namedSchemas(schema, "dependentSchemas")) {
    if (!(name in Object.prototype)) setOwn(dependencies, name, branch(part, state, depth))
  }
  const names = own(schema, "dependentRequired")
  for (const [name, list] of Object.entries(isRecord(names) ? names : {})) {
    if (Array.isArray(list) && !Object.hasOwn(dependencies, name)) setOwn(dependencies, name, list)
  }
  if (Object.keys(dependencies).length > 0) keywords["dependencies"] = dependencies
  return keywords
}

/** A part that is added to an object when a condition holds. */
function branch(part: JsonSchema, state: State, depth: number): JsonRecord {
  const flat = merged(state.root, part) ?? {}
  const properties = {}
  for (const [name, child] of namedSchemas(flat, "properties")) {
    if (!(name in Object.prototype)) setOwn(properties, name, convert(child, state, depth + 1))
  }
  return {
    properties,
    required: stringsUnder(flat, "required"),
    ...conditions(flat, state, depth + 1),
  }
}

/** A condition, which is checked but never drawn; one with references is never met. */
function plainCondition(condition: JsonRecord): JsonRecord {
  return JSON.stringify(condition).includes('"$ref"') ? { not: {} } : condition
}

function array(schema: JsonRecord, state: State, depth: number): JsonRecord {
  const base = { ...annotations(schema), type: "array" }
  const prefix = schemasUnder(schema, "prefixItems")
  const items = own(schema, "items")
  if (prefix.length > 0) {
    const fixed = prefix
      .slice(0, 50)
      .map((item) => newItem(item, convert(item, state, depth + 1), state))
    if (items === undefined || typeof items === "boolean") return { ...base, items: fixed }
    const more = isSchema(items) ? newItem(items, convert(items, state, depth + 1), state) : {}
    return { ...base, items: fixed, additionalItems: more }
  }
  if (items === false) return { ...base, items: asJson({}), maxItems: 0 }
  if (!isRecord(items) || Object.keys(items).length === 0) return asJson(schema)
  return { ...base, items: newItem(items, convert(items, state, depth + 1), state) }
}

/** An item of a list; a new one starts with an empty value that can be sent. */
function newItem(schema: JsonSchema, converted: JsonRecord, state: State): JsonRecord {
  return { ...converted, default: emptyOf(state.root, schema) }
}

/** A text, a number, a boolean, null, or one of several values. */
function scalar(schema: JsonRecord): JsonRecord {
  const fixed = own(schema, "const")
  const values = fixed === undefined ? own(schema, "enum") : [fixed]
  const type = kindOf(schema) ?? "string"
  const plain: Record<string, unknown> = { ...annotations(schema), type }
  if (Array.isArray(values) && type !== "null") {
    plain["enum"] = values.filter((one) => one !== null)
    if (fixed !== undefined) plain["const"] = fixed
    delete plain["format"]
  } else if (type === "string") {
    const format = textOf(schema, "format")
    plain["format"] = formatOf(schema)
    if (format !== undefined && format !== plain["format"]) plain[FORMAT] = format
    if (plain["format"] === undefined) delete plain["format"]
  }
  return plain
}

/** The keyword for a format without a field of its own; the label shows the format. */
export const FORMAT = "x-format"

/** Formats that have a field of their own; an unknown one is only text. */
function formatOf(schema: JsonRecord): string | undefined {
  const format = textOf(schema, "format")
  if (format === "binary" || format === "byte" || textOf(schema, "contentEncoding") === "base64") {
    return "file"
  }
  if (/^text\//.test(textOf(schema, "contentMediaType") ?? "")) return "textarea"
  if (format === "markdown" || format === "html" || format === "multiline") return "textarea"
  const longest = own(schema, "maxLength")
  // Some documents give every id room for 5,000 characters.
  if (format === undefined && typeof longest === "number" && longest > 5000) return "textarea"
  return ["date", "date-time", "time", "email", "uri", "password"].find((one) => one === format)
}

/** The one kind of value that a schema is for; `undefined` when it can be anything. */
function kindOf(schema: JsonRecord): string | undefined {
  const [type] = typesOf(schema).filter((one) => one !== "null")
  if (type !== undefined) return type
  if (typesOf(schema).includes("null")) return "null"
  for (const keyword of ["properties", "additionalProperties", "patternProperties"]) {
    if (isRecord(own(schema, keyword))) return "object"
  }
  if (isRecord(own(schema, "items")) || Array.isArray(own(schema, "prefixItems"))) return "array"
  return (
    kindOfValues(schema) ??
    ((textOf(schema, "format") ?? textOf(schema, "pattern")) ? "string" : undefined)
  )
}

function kindOfValues(schema: JsonRecord): string | undefined {
  const fixed = own(schema, "const")
  const values: unknown = fixed === undefined ? own(schema, "enum") : [fixed]
  if (!Array.isArray(values) || values.length === 0) return undefined
  const kinds = new Set(values.filter((one) => one !== null).map((one) => typeof one))
  if (kinds.size === 0) return "null"
  const [kind] = kinds
  // A choice among values of several kinds is still a choice: what is drawn is their text.
  return kinds.size === 1 && (kind === "number" || kind === "boolean") ? kind : "string"
}

function isScalar(schema: JsonRecord): boolean {
  const kind = kindOf(schema)
  const isUnion = Object.hasOwn(schema, "anyOf") || Object.hasOwn(schema, "oneOf")
  return kind !== undefined && kind !== "object" && kind !== "array" && !isUnion
}

/** Any value, as JSON text. */
function asJson(schema: JsonRecord): JsonRecord {
  const { title, description, readOnly, deprecated, examples } = annotations(schema)
  const kept = Object.entries({ title, description, readOnly, deprecated, examples })
  return {
    ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)),
    $id: JSON_FIELD,
    type: ["string", "number", "boolean", "object", "array", "null"],
  }
}

function annotations(schema: JsonRecord): JsonRecord {
  const kept: Record<string, unknown> = {}
  for (const [type, keywords] of Object.entries(PLAIN)) {
    for (const keyword of keywords) {
      const value = own(schema, keyword)
      if (typeof value === type) kept[keyword] = value
    }
  }
  const preset = own(schema, "default")
  if (preset !== undefined) kept["default"] = preset
  const examples = own(schema, "examples")
  const example = own(schema, "example")
  if (Array.isArray(examples) && examples.length > 0) kept["examples"] = examples.slice(0, 20)
  else if (example !== undefined) kept["examples"] = [example]
  return kept
}
