import { isRecord } from "../internal/guards.ts"
import type { JsonObject } from "../mcp/model.ts"
import { compileSchema } from "../schema/compiled.ts"
import { listOf, setOwn, type JsonSchema } from "../schema/json.ts"
import { ANNOTATIONS } from "../schema/keywords.ts"
import { flattened } from "./portable-input.ts"

/** An input schema for the strict mode of model APIs, in which a model can write nothing but what it allows. */
export interface StrictInput {
  /** Every object is closed, and all its members are required: those that may be left out may be null. */
  readonly schema: JsonSchema
  /** Why the schema has no strict form; empty if it has one. */
  readonly reasons: readonly string[]
  /** Leaves out the members that are null because they had to be there. */
  readonly restore: (args: JsonObject) => JsonObject
}

/** Keywords that strict mode accepts. Others that only refuse values are left out: calls are checked as before. */
const KEPT: ReadonlySet<string> = new Set([
  ...["title", "description", "type", "enum", "const", "pattern", "minimum", "maximum"],
  ...["exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"],
])
const FORMATS: ReadonlySet<unknown> = new Set(
  "date-time time date duration email hostname ipv4 ipv6 uuid".split(" "),
)

const MAX_DEPTH = 10
const MAX_PROPERTIES = 5000
const MAX_VALUES = 1000
const MAX_LENGTH = 120_000

/** The strict form of a schema without references, such as `portableInput` returns. */
export function strictInput(schema: JsonSchema): StrictInput {
  const walk: Walk = { reasons: new Set(), properties: 0, values: 0 }
  const strict = closed(schema, walk, 0)
  if (walk.properties > MAX_PROPERTIES) walk.reasons.add("too many properties")
  if (walk.values > MAX_VALUES) walk.reasons.add("too many values")
  if (JSON.stringify(strict).length > MAX_LENGTH) walk.reasons.add("too long")
  return {
    schema: strict,
    reasons: [...walk.reasons],
    restore: (args) => restored(args, schema) as JsonObject,
  }
}

interface Walk {
  readonly reasons: Set<string>
  properties: number
  values: number
}

function closed(given: unknown, walk: Walk, depth: number): JsonSchema {
  const schema = merged(given)
  const { items, properties, additionalProperties, patternProperties, format } = schema
  const ways = waysOf(schema)
  const kept = Object.entries(schema).filter(([keyword]) => KEPT.has(keyword))
  const out: Record<string, unknown> = Object.fromEntries(kept)
  if (FORMATS.has(format)) out["format"] = format
  walk.values += listOf(schema["enum"]).length
  for (const keyword of ["allOf", "if", "$ref"]) {
    if (keyword in schema) walk.reasons.add(`"${keyword}"`)
  }
  if (ways.length > 0) {
    delete out["type"]
    return { ...out, anyOf: ways.map((way) => closed(way, walk, depth)) }
  }
  if (depth > MAX_DEPTH) {
    walk.reasons.add(`more than ${MAX_DEPTH} levels`)
    return out
  }
  if (isAnnotation(schema) || schema["not"] !== undefined) walk.reasons.add("a value of any type")
  if (isRecord(items)) out["items"] = closed(items, walk, depth + 1)
  else if (hasType(schema, "array")) walk.reasons.add("a list of anything")
  if (isRecord(properties) || hasType(schema, "object")) {
    const members = isRecord(properties) ? Object.entries(properties) : []
    const isMap = isRecord(additionalProperties) || isRecord(patternProperties)
    if (isMap) walk.reasons.add("an object with members of any name")
    else if (members.length === 0 && additionalProperties !== false)
      walk.reasons.add("an object with any members")
    walk.properties += members.length
    const shown: Record<string, unknown> = {}
    for (const [key, member] of members) {
      const strict = closed(member, walk, depth + 1)
      setOwn(shown, key, listOf(schema["required"]).includes(key) ? strict : orNull(strict))
    }
    out["properties"] = shown
    out["required"] = Object.keys(shown)
    out["additionalProperties"] = false
  }
  return out
}

/** The schema with the members of its parts and alternatives, if it is one of an object. */
function merged(given: unknown): JsonSchema {
  const schema = isRecord(given) ? given : {}
  const { allOf, ...rest } = schema
  const parts = listOf(allOf)
  const rules = parts.filter((part) => !isAnnotation(part))
  const described: JsonSchema = Object.assign({}, ...parts.filter(isAnnotation), rest)
  const [only] = rules
  if (rules.length === 1 && isRecord(only) && !("properties" in schema)) {
    return merged({ ...only, ...described })
  }
  if (isOfObject(schema)) {
    return { type: "object", ...flattened(rules.length > 0 ? schema : described).schema }
  }
  return rules.length > 0 ? schema : described
}

/** Whether a part of a schema accepts every value. */
function isAnnotation(part: unknown): boolean {
  return isRecord(part) && Object.keys(part).every((keyword) => ANNOTATIONS.has(keyword))
}

function isOfObject(schema: unknown): boolean {
  if (!isRecord(schema)) return false
  const rules = listOf(schema["allOf"]).filter((part) => !isAnnotation(part))
  return isRecord(schema["properties"]) || (rules.length > 0 && rules.every(isOfObject))
}

function waysOf(schema: JsonSchema): readonly unknown[] {
  return [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])]
}

function hasType(schema: JsonSchema, name: string): boolean {
  const { type } = schema
  return type === name || listOf(type).includes(name)
}

/** The same schema, which also accepts null. */
function orNull(schema: JsonSchema): JsonSchema {
  const { title, description, ...rest } = schema
  if (hasType(schema, "null")) return schema
  if (Array.isArray(rest["anyOf"])) {
    const others = rest["anyOf"].filter((way) => !isRecord(way) || way["type"] !== "null")
    return { ...schema, anyOf: [...others, { type: "null" }] }
  }
  if (rest["type"] !== undefined && !("enum" in rest) && !("const" in rest)) {
    return { ...schema, type: [rest["type"], "null"].flat() }
  }
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    anyOf: [rest, { type: "null" }],
  }
}

/** The value without members that may be left out, may not be null, and are. */
function restored(value: unknown, given: unknown): unknown {
  if (typeof value !== "object" || value === null) return value
  const schema = merged(given)
  for (const way of waysOf(schema)) {
    const one = restored(value, way)
    if (compileSchema(way).check(one)) return one
  }
  if (Array.isArray(value)) return value.map((item) => restored(item, schema["items"]))
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {}
  const required = listOf(schema["required"])
  const out: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    const own = Object.hasOwn(properties, key) ? properties[key] : undefined
    const isFilled = member === null && own !== undefined && !required.includes(key)
    if (!isFilled || compileSchema(own).check(null)) setOwn(out, key, restored(member, own))
  }
  return out
}
