import { isRecord } from "../../../../src/internal/guards.ts"
import { isSchema, setOwn } from "../../../../src/schema/json.ts"
import { namedSchemas, own, schemasUnder, stringsUnder, typesOf } from "./json.ts"
import type { JsonRecord, JsonSchema } from "./json.ts"
import { commonTypes } from "../../../../src/schema/read/types.ts"
import { targetOf } from "./resolve.ts"

/** References and `allOf` within each other, before they are taken for a loop. */
const MAX_HOPS = 24

/**
 * A schema with what it refers to and what it consists of (`$ref`, `allOf`) in one object.
 *
 * `undefined` for a loop and for an unresolvable reference. If two parts differ in a keyword, the narrower value
 * wins where that is clear, and the outer one otherwise: the result is used for a form, never for validation.
 */
export function merged(root: JsonSchema, schema: JsonSchema, hops = 0): JsonRecord | undefined {
  if (hops > MAX_HOPS) return undefined
  if (!isRecord(schema)) return schema ? {} : undefined
  const ref = own(schema, "$ref")
  const target = targetOf(root, ref)
  if (typeof ref === "string" && target === undefined) return undefined
  const parts = [...(target === undefined ? [] : [target]), ...schemasUnder(schema, "allOf")]
  if (parts.length === 0) return schema
  const { $ref: _ref, allOf: _parts, ...rest } = schema
  let whole: JsonRecord | undefined
  for (const part of parts) {
    const flat = merged(root, part, hops + 1)
    if (flat === undefined) return undefined
    whole = whole === undefined ? flat : combined(whole, flat)
  }
  return whole === undefined ? rest : combined(whole, rest)
}

/** Two schemas that both hold, as one. */
function combined(base: JsonRecord, over: JsonRecord): JsonRecord {
  const result: Record<string, unknown> = { ...base, ...over }
  if (Object.hasOwn(base, "properties") && Object.hasOwn(over, "properties")) {
    result["properties"] = combinedProperties(base, over)
  }
  const required = new Set([...stringsUnder(base, "required"), ...stringsUnder(over, "required")])
  if (required.size > 0) result["required"] = [...required]
  const [left, right] = [typesOf(base), typesOf(over)]
  if (left.length > 0 && right.length > 0) {
    const types = commonTypes(left, right)
    result["type"] = types.length === 1 ? types[0] : types
  }
  for (const keyword of ["anyOf", "oneOf"]) keepBoth(result, base, over, keyword)
  return result
}

function combinedProperties(base: JsonRecord, over: JsonRecord): JsonRecord {
  const properties = {}
  for (const [name, schema] of namedSchemas(base, "properties")) setOwn(properties, name, schema)
  for (const [name, schema] of namedSchemas(over, "properties")) {
    const before = own(properties, name)
    setOwn(properties, name, isSchema(before) ? { allOf: [before, schema] } : schema)
  }
  return properties
}

/** A union on either side is kept; of two the one with more to choose from. */
function keepBoth(
  result: Record<string, unknown>,
  base: JsonRecord,
  over: JsonRecord,
  keyword: string,
): void {
  const [left, right] = [schemasUnder(base, keyword), schemasUnder(over, keyword)]
  if (left.length > right.length) result[keyword] = left
}
