import { hasKeys, isPlainRecord, jsonType, listOf } from "../json.ts"
import type { JsonSchema } from "../json.ts"
import { flatten } from "./flatten.ts"
import type { Flat, Union } from "./flatten.ts"
import type { Part } from "./resolve-ref.ts"
import { valuesOf } from "./values.ts"

// Deeper types are not helpful in words.
const MAX_DEPTH = 3
/** Members of a union that its type names one by one. */
export const MAX_MEMBERS = 4
const MAX_NAME = 60

/** JSON types that a value may have; empty if the schema names none. */
export function typesOf(flat: Flat): readonly string[] {
  let found: readonly string[] = []
  for (const { schema } of flat.layers) {
    const named = namedTypes(schema)
    if (named.length > 0) found = found.length === 0 ? named : commonTypes(found, named)
  }
  if (found.length > 0) return found
  const values = valuesOf(flat)
  if (values !== undefined) return [...new Set(values.map(jsonType))]
  return (
    flat.layers.map(({ schema }) => impliedTypes(schema)).find(({ length }) => length > 0) ?? []
  )
}

/** A type in words: `string`, `user[]`, `map of integer`, `cat | dog`. */
export function typeText(flat: Flat, depth = 0): string {
  if (flat.isNothing) return "nothing"
  const types = typesOf(flat)
  const isNullable = flat.isNullable || types.includes("null")
  const others = types.filter((type) => type !== "null")
  const text =
    others.length === 0 && types.length > 0
      ? ""
      : others.length === 0
        ? untyped(flat, depth)
        : others.map((type) => single(type, flat, depth)).join(" | ")
  return [text, ...(isNullable ? ["null"] : [])].filter((one) => one !== "").join(" | ")
}

/** The unions that are a choice among shapes, not only among values or names that must be given. */
export function choicesOf(flat: Flat): readonly Union[] {
  if (valuesOf(flat) !== undefined) return []
  return flat.unions.filter((union) => requirementsOf(union) === undefined)
}

/** Of a union that only says which names must be given: those of each member. */
export function requirementsOf({ parts }: Union): readonly (readonly string[])[] | undefined {
  const sets: (readonly string[])[] = []
  for (const { schema } of parts) {
    if (!isPlainRecord(schema) || !Array.isArray(schema["required"])) return undefined
    const says = Object.keys(schema).filter((key) => !["required", "type", "title"].includes(key))
    if (says.length > 0) return undefined
    sets.push(listOf(schema["required"]).map(String))
  }
  return sets
}

/** Types on both sides, `integer` also as a `number`; the first ones if there are none. */
function commonTypes(left: readonly string[], right: readonly string[]): readonly string[] {
  const isIn = (type: string, types: readonly string[]): boolean =>
    types.includes(type) || (type === "integer" && types.includes("number"))
  const common = [
    ...left.filter((type) => isIn(type, right)),
    ...right.filter((type) => isIn(type, left)),
  ]
  return common.length === 0 ? left : [...new Set(common)]
}

function namedTypes({ type }: JsonSchema): readonly string[] {
  return typeof type === "string" ? [type] : listOf(type).map(String)
}

/** The type that keywords are for, where none is named. */
function impliedTypes(schema: JsonSchema): readonly string[] {
  const { properties, required, additionalProperties, items, prefixItems } = schema
  if (isPlainRecord(properties) || Array.isArray(required) || isPlainRecord(additionalProperties)) {
    return ["object"]
  }
  return items !== undefined || prefixItems !== undefined ? ["array"] : []
}

function untyped(flat: Flat, depth: number): string {
  const choice = choiceText(flat, depth)
  if (choice !== undefined) return choice
  if (flat.layers.some(({ schema }) => schema["format"] === "binary")) return "bytes"
  return flat.name === undefined ? "anything" : short(flat.name)
}

function single(type: string, flat: Flat, depth: number): string {
  if (type === "array") return arrayText(flat, depth)
  if (type !== "object") return type
  const map = mapText(flat, depth)
  return map ?? (flat.name === undefined ? (choiceText(flat, depth) ?? "object") : short(flat.name))
}

function arrayText(flat: Flat, depth: number): string {
  for (const { schema, scope } of flat.layers) {
    const { prefixItems, items } = schema
    const places = listOf(prefixItems)
    if (places.length > 0) {
      const some = places.slice(0, MAX_MEMBERS).map((one) => inner({ schema: one, scope }, depth))
      return `[${[...some, ...(places.length > MAX_MEMBERS ? ["…"] : [])].join(", ")}]`
    }
    if (isPlainRecord(items)) {
      const text = inner({ schema: items, scope }, depth)
      return / /.test(text) ? `(${text})[]` : `${text}[]`
    }
  }
  return "array"
}

/** An object of which only the values are described. */
function mapText(flat: Flat, depth: number): string | undefined {
  let value: Part | undefined
  for (const { schema, scope } of flat.layers) {
    const { properties, additionalProperties, patternProperties } = schema
    if (hasKeys(properties)) return undefined
    const [pattern, ...others] = isPlainRecord(patternProperties)
      ? Object.values(patternProperties)
      : []
    if (others.length > 0) return undefined
    const found = isPlainRecord(additionalProperties) ? additionalProperties : pattern
    if (isPlainRecord(found)) value ??= { schema: found, scope }
  }
  return value === undefined ? undefined : `map of ${inner(value, depth)}`
}

function choiceText(flat: Flat, depth: number): string | undefined {
  const [union, ...others] = choicesOf(flat)
  if (union === undefined) return undefined
  const { kind, parts } = union
  const many = `${kind === "oneOf" ? "one" : "any"} of ${parts.length}`
  if (others.length > 0 || parts.length > MAX_MEMBERS || depth >= MAX_DEPTH) return many
  const texts = [...new Set(parts.map((part) => inner(part, depth)))]
  const text = texts.join(" | ")
  return texts.length < 2 || text.length > MAX_NAME ? many : text
}

function inner(part: Part, depth: number): string {
  if (part.schema === true) return "anything"
  return depth >= MAX_DEPTH ? "…" : typeText(flatten([part]), depth + 1)
}

function short(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
}
