// JSON Schema 2020-12 as types. What a type cannot express is left out: it admits more, never less.

import { isRecord } from "../internal/guards.ts"
import { FILE_MARK } from "../schema/files.ts"
import type { RefKeyword } from "../schema/refs.ts"
import { isTaggedReference } from "../schema/typebox-kinds.ts"
import { intersection, union } from "./combine.ts"
import { FILE_TYPES, NEVER, OPEN_OBJECT, SIMPLE_TYPES, UNKNOWN } from "./model.ts"
import type { TypeNode, View } from "./model.ts"
import { type ObjectReader, objectType } from "./objects.ts"
import { ownValues } from "../schema/read/values.ts"
import { jsonType } from "../schema/json.ts"

type Schema = Readonly<Record<string, unknown>>

/** Resolves references. */
export interface Referred {
  /** The type of the target of a schema's reference. */
  refer(schema: Schema, keyword: RefKeyword): TypeNode
  /** The target schema. */
  target(schema: Schema, keyword: RefKeyword): unknown
}

/** Maximum depth of a schema; deeper ones are generated. */
const MAX_DEPTH = 100

const OBJECT_KEYWORDS = ["properties", "required", "additionalProperties", "patternProperties"]
const ARRAY_KEYWORDS = ["items", "prefixItems"]

/** Converts schemas to types, for one view. */
export class Converter implements ObjectReader {
  readonly #view: View
  readonly #referred: Referred
  #depth = 0

  constructor(view: View, referred: Referred) {
    this.#view = view
    this.#referred = referred
  }

  readonly convert = (schema: unknown): TypeNode => {
    if (schema === false) return NEVER
    if (!isRecord(schema) || this.#depth >= MAX_DEPTH) return UNKNOWN
    this.#depth++
    try {
      return intersection(this.#parts(schema))
    } finally {
      this.#depth--
    }
  }

  /** Whether a default fills in a missing property before an input is validated. */
  isFilled(schema: unknown): boolean {
    if (this.#view !== "filled") return false
    let at = schema
    for (let steps = 0; steps < MAX_DEPTH && isRecord(at); steps++) {
      if (Object.hasOwn(at, "default")) return true
      if (typeof at["$ref"] !== "string") return false
      at = this.#referred.target(at, "$ref")
    }
    return false
  }

  #parts(schema: Schema): TypeNode[] {
    const parts: TypeNode[] = []
    for (const keyword of ["$ref", "$dynamicRef"] as const) {
      if (typeof schema[keyword] === "string") parts.push(this.#referred.refer(schema, keyword))
    }
    if (isTaggedReference(schema)) return parts
    parts.push(listedValues(schema) ?? this.#typed(schema))
    const { allOf, anyOf, oneOf, not } = schema
    if (Array.isArray(allOf)) parts.push(...allOf.map(this.convert))
    for (const choice of [anyOf, oneOf]) {
      if (Array.isArray(choice)) parts.push(union(choice.map(this.convert)))
    }
    // Either `then` or `else` applies.
    if ("if" in schema && "then" in schema && "else" in schema) {
      parts.push(union([this.convert(schema["then"]), this.convert(schema["else"])]))
    }
    if (not === true || (isRecord(not) && Object.keys(not).length === 0)) parts.push(NEVER)
    return parts
  }

  #typed(schema: Schema): TypeNode {
    const { type } = schema
    if (typeof type === "string") return this.#ofType(type, schema)
    if (Array.isArray(type)) return union(type.map((one) => this.#ofType(one, schema)))
    const file = FILE_TYPES.get(schema[FILE_MARK])
    if (file !== undefined) return file
    // Without a type, properties imply an object.
    const types: TypeNode[] = []
    if (OBJECT_KEYWORDS.some((keyword) => keyword in schema)) types.push(objectType(schema, this))
    if (ARRAY_KEYWORDS.some((keyword) => keyword in schema)) {
      types.push(arrayType(schema, this.convert))
    }
    return types.length === 0 ? UNKNOWN : union(types)
  }

  #ofType(type: unknown, schema: Schema): TypeNode {
    if (type === "object") return objectType(schema, this)
    if (type === "array") return arrayType(schema, this.convert)
    return SIMPLE_TYPES.get(type) ?? UNKNOWN
  }
}

/** Maximum length of a tuple; longer ones become arrays. */
const MAX_PLACES = 100

/** The type of an array schema. */
function arrayType(
  schema: Readonly<Record<string, unknown>>,
  convert: (schema: unknown) => TypeNode,
): TypeNode {
  const { places, others } = itemsOf(schema)
  if (places === undefined) return { kind: "array", item: convert(others ?? true) }
  const maxItems = count(schema["maxItems"], Number.POSITIVE_INFINITY)
  const items = places.slice(0, Math.min(maxItems, MAX_PLACES)).map(convert)
  const rest = restOf(places.length, maxItems, others, convert)
  if (places.length > MAX_PLACES) {
    return { kind: "array", item: union([...items, UNKNOWN]) }
  }
  if (items.length === 0) return { kind: "array", item: rest ?? NEVER }
  const minItems = Math.min(count(schema["minItems"], 0), items.length)
  return { kind: "tuple", items, minItems: minItems, rest }
}

/** Older dialects have the tuple in `items`, and the schema of further items in `additionalItems`. */
function itemsOf(schema: Readonly<Record<string, unknown>>): {
  places: readonly unknown[] | undefined
  others: unknown
} {
  const { prefixItems, items, additionalItems } = schema
  if (Array.isArray(prefixItems)) return { places: prefixItems, others: items }
  if (Array.isArray(items)) return { places: items, others: additionalItems }
  return { places: undefined, others: items }
}

function restOf(
  places: number,
  maxItems: number,
  others: unknown,
  convert: (schema: unknown) => TypeNode,
): TypeNode | undefined {
  if (maxItems <= places || others === false) return undefined
  const rest = convert(others ?? true)
  return rest === NEVER ? undefined : rest
}

function count(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? Math.floor(value) : otherwise
}

/** Maximum number of values in a union; more only slow down the compiler. */
const MAX_VALUES = 1000
const MAX_VALUE_DEPTH = 20

/** The values that a schema lists, of those its `type` allows; `undefined` when it lists none. */
export function listedValues(schema: Readonly<Record<string, unknown>>): TypeNode | undefined {
  // Next to an enum, a `const` decides alone.
  const values = ownValues(schema)
  if (values === undefined) return undefined
  const allowed = allowedTypes(schema["type"])
  const fitting = values.filter((value) => allowed === undefined || allowed.has(jsonType(value)))
  const types = fitting.length > MAX_VALUES ? fitting.map(wide) : fitting.map((one) => literal(one))
  return union(types)
}

function allowedTypes(type: unknown): ReadonlySet<string> | undefined {
  const names = typeof type === "string" ? [type] : Array.isArray(type) ? type : undefined
  return names && new Set(names.map((name) => (name === "integer" ? "number" : String(name))))
}

function literal(value: unknown, depth = 0): TypeNode {
  if (depth > MAX_VALUE_DEPTH) return UNKNOWN
  if (typeof value === "string" || typeof value === "boolean") return { kind: "literal", value }
  if (typeof value === "number" && Number.isFinite(value)) return { kind: "literal", value }
  if (Array.isArray(value)) {
    const items = value.map((item) => literal(item, depth + 1))
    return { kind: "tuple", items, minItems: items.length, rest: undefined }
  }
  return isRecord(value) ? objectLiteral(value, depth) : wide(value)
}

function objectLiteral(value: Record<string, unknown>, depth: number): TypeNode {
  const properties = Object.entries(value).map(([key, inner]) => ({
    key,
    type: literal(inner, depth + 1),
    isOptional: false,
  }))
  const index = properties.length === 0 ? [{ prefix: "", type: NEVER }] : []
  return { kind: "object", properties, index }
}

function wide(value: unknown): TypeNode {
  if (Array.isArray(value)) return { kind: "array", item: UNKNOWN }
  return isRecord(value) ? OPEN_OBJECT : (SIMPLE_TYPES.get(jsonType(value)) ?? UNKNOWN)
}
