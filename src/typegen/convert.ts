// JSON Schema 2020-12 as types. What a type cannot express is left out: it admits more, never less.

import { isRecord } from "../internal/guards.ts"
import { FILE_MARK } from "../schema/files.ts"
import type { RefKeyword } from "../schema/refs.ts"
import { isTaggedReference } from "../schema/typebox-kinds.ts"
import { arrayType } from "./arrays.ts"
import { intersection, union } from "./combine.ts"
import { listedValues } from "./literals.ts"
import { FILE_TYPES, NEVER, SIMPLE_TYPES, UNKNOWN } from "./model.ts"
import type { TypeNode, View } from "./model.ts"
import { objectType } from "./objects.ts"
import type { ObjectReader } from "./objects.ts"

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
