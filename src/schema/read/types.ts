import { isRecord } from "../../internal/guards.ts"
import { hasKeys, type JsonSchema, jsonType, listOf } from "../json.ts"
import { type Flat, flatten, type Union } from "./flatten.ts"
import type { Part } from "./resolve-ref.ts"
import { valuesOf } from "./values.ts"

// Deeper types are not helpful in words.
const MAX_DEPTH = 3
/** Members of a union that its type names one by one. */
export const MAX_MEMBERS = 4
const MAX_LISTED = 8
const MAX_NAME = 60

/** JSON types that a value may have; empty if the schema names none. */
export function typesOf(flat: Flat): readonly string[] {
  let types: readonly string[] = []
  for (const { schema } of flat.layers) {
    const named = namedTypes(schema)
    if (named.length > 0) types = types.length === 0 ? named : commonTypes(types, named)
  }
  if (types.length > 0) return types
  const values = valuesOf(flat)
  if (values !== undefined) return [...new Set(values.map(jsonType))]
  return (
    flat.layers.map(({ schema }) => impliedTypes(schema)).find(({ length }) => length > 0) ?? []
  )
}

/** A type in words, for a place that shows values and definitions elsewhere: `string`, `user[]`, `cat | dog`. */
export function typeText(flat: Flat): string {
  return new TypeWriter(false).write(flat, 0)
}

/** The complete type: with values, formats and the members of unions, and without names of definitions. */
export function completeTypeText(flat: Flat): string {
  return new TypeWriter(true).write(flat, 0)
}

/** The unions that are a choice among shapes, not only among values or required names. */
export function choicesOf(flat: Flat): readonly Union[] {
  if (valuesOf(flat) !== undefined) return []
  return flat.unions.filter((one) => requirementsOf(one) === undefined)
}

/** The required names of each member of a union that constrains nothing else; otherwise `undefined`. */
export function requirementsOf({ parts }: Union): readonly (readonly string[])[] | undefined {
  const sets: (readonly string[])[] = []
  for (const { schema } of parts) {
    if (!isRecord(schema) || !Array.isArray(schema["required"])) return undefined
    const others = Object.keys(schema).filter((key) => !["required", "type", "title"].includes(key))
    if (others.length > 0) return undefined
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
  if (isRecord(properties) || Array.isArray(required) || isRecord(additionalProperties)) {
    return ["object"]
  }
  return items !== undefined || prefixItems !== undefined ? ["array"] : []
}

class TypeWriter {
  readonly #isComplete: boolean

  constructor(isComplete: boolean) {
    this.#isComplete = isComplete
  }

  write(flat: Flat, depth: number): string {
    if (flat.isNothing) return "nothing"
    const values = this.#isComplete ? valuesOf(flat) : undefined
    const types = values === undefined ? typesOf(flat) : []
    const texts =
      values?.map((value) => JSON.stringify(value)) ??
      types.filter((type) => type !== "null").map((type) => this.#single(type, flat, depth))
    if (texts.length === 0 && types.length === 0) texts.push(this.#untyped(flat, depth))
    if (flat.isNullable || types.includes("null")) texts.push("null")
    return union(texts)
  }

  #untyped(flat: Flat, depth: number): string {
    const choice = this.#choice(flat, depth)
    if (choice !== undefined) return choice
    if (flat.layers.some(({ schema }) => schema["format"] === "binary")) return "bytes"
    return this.#nameOf(flat) ?? "anything"
  }

  #nameOf({ name }: Flat): string | undefined {
    if (name === undefined || this.#isComplete) return undefined
    return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
  }

  #single(type: string, flat: Flat, depth: number): string {
    if (type === "array") return this.#array(flat, depth)
    if (type === "object") {
      const map = this.#map(flat, depth)
      return map ?? this.#nameOf(flat) ?? this.#choice(flat, depth) ?? "object"
    }
    const format = flat.layers.find(({ schema }) => typeof schema["format"] === "string")
    const isShown = this.#isComplete && type === "string" && format !== undefined
    return isShown ? `string (${String(format.schema["format"])})` : type
  }

  #array(flat: Flat, depth: number): string {
    for (const { schema, scope } of flat.layers) {
      const { prefixItems, items } = schema
      const places = listOf(prefixItems)
      if (places.length > 0) {
        const some = places.slice(0, MAX_MEMBERS)
        const texts = some.map((one) => this.#inner({ schema: one, scope }, depth))
        return `[${[...texts, ...(places.length > MAX_MEMBERS ? ["…"] : [])].join(", ")}]`
      }
      if (isRecord(items)) {
        const text = this.#inner({ schema: items, scope }, depth)
        return / /.test(text) ? `(${text})[]` : `${text}[]`
      }
    }
    return "array"
  }

  /** The type of an object without listed properties. */
  #map(flat: Flat, depth: number): string | undefined {
    let value: Part | undefined
    for (const { schema, scope } of flat.layers) {
      const { properties, additionalProperties, patternProperties } = schema
      if (hasKeys(properties)) return undefined
      const [pattern, ...others] = isRecord(patternProperties)
        ? Object.values(patternProperties)
        : []
      if (others.length > 0) return undefined
      const valueSchema = isRecord(additionalProperties) ? additionalProperties : pattern
      if (isRecord(valueSchema)) value ??= { schema: valueSchema, scope }
    }
    return value === undefined ? undefined : `map of ${this.#inner(value, depth)}`
  }

  #choice(flat: Flat, depth: number): string | undefined {
    const [first, ...others] = choicesOf(flat)
    if (first === undefined) return undefined
    const { kind, parts } = first
    const count = `${kind === "oneOf" ? "one" : "any"} of ${parts.length}`
    const most = this.#isComplete ? Number.POSITIVE_INFINITY : MAX_MEMBERS
    if (others.length > 0 || parts.length > most || depth >= MAX_DEPTH) return count
    const texts = [...new Set(parts.map((part) => this.#inner(part, depth)))]
    const text = union(texts)
    if (this.#isComplete) return text
    return texts.length < 2 || text.length > MAX_NAME ? count : text
  }

  #inner(part: Part, depth: number): string {
    if (part.schema === true) return "anything"
    return depth >= MAX_DEPTH ? "…" : this.write(flatten([part]), depth + 1)
  }
}

function union(texts: readonly string[]): string {
  const different = [...new Set(texts)]
  const more = different.length - MAX_LISTED
  const shown = different.slice(0, MAX_LISTED)
  return [...shown, ...(more > 0 ? [`… ${more} more`] : [])].join(" | ")
}
