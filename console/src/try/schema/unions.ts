import { isRecord } from "../../../../src/internal/guards.ts"
import { namedSchemas, own, schemasUnder, textOf, typesOf } from "./json.ts"
import type { JsonRecord, JsonSchema } from "./json.ts"
import { ownValues } from "../../../../src/schema/read/values.ts"
import { merged } from "./merge.ts"

/** Of a union with more choices the rest is left to the JSON editor. */
const MAX_OPTIONS = 60
/** Unions of one choice within each other. */
const MAX_HOPS = 10

/** A schema as one kind of value, or a choice among several. */
export type Union =
  | { readonly kind: "single"; readonly schema: JsonRecord; readonly nullable: boolean }
  | {
      readonly kind: "choice"
      readonly schema: JsonRecord
      readonly keyword: "anyOf" | "oneOf"
      readonly options: readonly { readonly schema: JsonSchema; readonly title: string }[]
    }

/**
 * Reads all forms of "one of": `anyOf`, `oneOf`, several types.
 *
 * "This or null" is one value that can be null; a choice of fixed values is one list of values.
 */
export function asUnion(schema: JsonRecord, root: JsonSchema, hops = 0): Union {
  const keyword = schemasUnder(schema, "oneOf").length > 0 ? "oneOf" : "anyOf"
  const options = schemasUnder(schema, keyword).slice(0, MAX_OPTIONS)
  if (options.length === 0) return byTypes(schema)
  // A union that is a choice of itself, or null.
  if (hops > MAX_HOPS) return { kind: "single", schema: {}, nullable: false }
  const rest = without(schema, ["anyOf", "oneOf"])
  const flat = options.map((option) => merged(root, option))
  const values = flat.map(onlyValues)
  if (values.every((one) => one !== undefined)) {
    const all = values.flat()
    return { kind: "single", schema: { ...rest, enum: all }, nullable: all.includes(null) }
  }
  const some = options.filter((_, at) => !isNull(flat[at]))
  const [only] = some
  if (some.length === 1 && only !== undefined && !Object.hasOwn(rest, "properties")) {
    const inner = merged(root, only) ?? {}
    const again = asUnion({ ...inner, ...rest }, root, hops + 1)
    if (again.kind === "choice") return again
    return { ...again, nullable: again.nullable || some.length < options.length }
  }
  return { kind: "choice", schema: rest, keyword, options: titled(options, flat, rest) }
}

/** Several types are as many choices; one type and `null` is not a choice. */
function byTypes(schema: JsonRecord): Union {
  const types = typesOf(schema)
  const some = types.filter((type) => type !== "null")
  const nullable = some.length > 0 && some.length < types.length
  if (some.length < 2 || Object.hasOwn(schema, "enum") || Object.hasOwn(schema, "const")) {
    const values = own(schema, "enum")
    const hasNull = Array.isArray(values) && values.includes(null) && values.length > 1
    return { kind: "single", schema: withType(schema, some), nullable: nullable || hasNull }
  }
  if (some.length > 5) {
    return { kind: "single", schema: without(schema, ["type"]), nullable: false }
  }
  const inner = without(schema, ["title", "description", "default", "examples", "type"])
  const options = types.map((type) => ({ schema: { ...inner, type }, title: type }))
  return { kind: "choice", schema: without(schema, Object.keys(inner)), keyword: "anyOf", options }
}

function withType(schema: JsonRecord, types: readonly string[]): JsonRecord {
  return types.length === 1 && Array.isArray(schema["type"])
    ? { ...schema, type: types[0] }
    : schema
}

/** The values of a schema that is nothing but values. */
function onlyValues(schema: JsonRecord | undefined): readonly unknown[] | undefined {
  if (schema === undefined) return undefined
  return ownValues(schema) ?? (isNull(schema) ? [null] : undefined)
}

function isNull(schema: JsonRecord | undefined): boolean {
  if (schema === undefined) return false
  return schema["type"] === "null" || (Object.hasOwn(schema, "const") && schema["const"] === null)
}

/** Names for the choices: their title, the value that distinguishes them, their reference, or their type. */
function titled(
  options: readonly JsonSchema[],
  flat: readonly (JsonRecord | undefined)[],
  outer: JsonRecord,
): readonly { readonly schema: JsonSchema; readonly title: string }[] {
  const type = own(outer, "type")
  const names = options.map((option, at) => nameOf(option, flat[at]))
  return options.map((option, at) => {
    const name = names[at] ?? `Choice ${at + 1}`
    const isTwice = names.indexOf(names[at]) !== names.lastIndexOf(names[at])
    const part = flat[at]
    const needsType = isRecord(option) && part !== undefined && typesOf(part).length === 0
    return {
      schema: needsType && typeof type === "string" ? { allOf: [option, { type }] } : option,
      title: isTwice ? `${name} (${at + 1})` : name,
    }
  })
}

function nameOf(option: JsonSchema, flat: JsonRecord | undefined): string | undefined {
  const title = textOf(option, "title") ?? (flat === undefined ? undefined : textOf(flat, "title"))
  if (title !== undefined) return title
  if (flat === undefined) return undefined
  for (const [, child] of namedSchemas(flat, "properties")) {
    const fixed = own(child, "const")
    if (typeof fixed === "string") return fixed
  }
  const ref = own(option, "$ref")
  if (typeof ref === "string") return ref.split("/").at(-1)
  const [first, ...more] = typesOf(flat)
  if (first === "object") return objectName(flat)
  if (first === "array") return "list"
  if (first !== undefined && more.length === 0) return textOf(flat, "format") ?? first
  return undefined
}

function objectName(schema: JsonRecord): string {
  const names = namedSchemas(schema, "properties").map(([name]) => name)
  return names.length === 0 ? "object" : `with ${names.slice(0, 2).join(", ")}`
}

function without(schema: JsonRecord, keywords: readonly string[]): JsonRecord {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keywords.includes(key)))
}
