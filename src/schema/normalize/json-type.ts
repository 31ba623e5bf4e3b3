import type { JsonSchema } from "../json.ts"
import { flattenOne } from "./flatten.ts"
import { schemaList } from "./keywords.ts"
import type { Subschema } from "./keywords.ts"
import type { References } from "./references.ts"

/** A set of JSON types, one bit each. Integers and other numbers are distinct. */
export type TypeMask = number

const NULL = 1
export const BOOLEAN = 2
export const INTEGER = 4
export const FRACTION = 8
export const STRING = 16
export const ARRAY = 32
export const OBJECT = 64
export const ANY: TypeMask = 127

const BITS = new Map<unknown, TypeMask>([
  ["null", NULL],
  ["boolean", BOOLEAN],
  ["integer", INTEGER],
  ["number", INTEGER | FRACTION],
  ["string", STRING],
  ["array", ARRAY],
  ["object", OBJECT],
])

/** The type of a value; 0 for what JSON does not know, such as bigint. */
export function typeOf(value: unknown): TypeMask {
  switch (typeof value) {
    case "string":
      return STRING
    case "number":
      return Number.isInteger(value) ? INTEGER : FRACTION
    case "boolean":
      return BOOLEAN
    case "object":
      return value === null ? NULL : Array.isArray(value) ? ARRAY : OBJECT
    default:
      return 0
  }
}

/**
 * Every type that a valid value may have; possibly some more, never fewer.
 *
 * `cache` holds earlier results. A schema inside itself counts as any type.
 */
export function typesOf(
  schema: Subschema,
  refs: References,
  cache: Map<JsonSchema, TypeMask>,
): TypeMask {
  if (typeof schema === "boolean") return schema ? ANY : 0
  const before = cache.get(schema)
  if (before !== undefined) return before
  cache.set(schema, ANY)
  let mask = ANY
  for (const { schema: member } of flattenOne(schema, refs).members) {
    mask &= declared(member["type"])
    if (Object.hasOwn(member, "const")) mask &= typeOf(member["const"])
    if (Array.isArray(member["enum"])) mask &= union(member["enum"].map(typeOf))
    for (const keyword of ["anyOf", "oneOf"]) {
      if (!Array.isArray(member[keyword])) continue
      mask &= union(schemaList(member, keyword).map((branch) => typesOf(branch, refs, cache)))
    }
  }
  cache.set(schema, mask)
  return mask
}

function declared(type: unknown): TypeMask {
  if (typeof type === "string") return BITS.get(type) ?? ANY
  return Array.isArray(type) ? union(type.map((name) => BITS.get(name) ?? ANY)) : ANY
}

function union(masks: readonly TypeMask[]): TypeMask {
  return masks.reduce((all, mask) => all | mask, 0)
}
