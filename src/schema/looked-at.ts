import { isObject } from "../internal/guards.ts"
import type { JsonSchema } from "./json.ts"

/** Keywords that read the properties of objects. */
export const OF_OBJECTS: ReadonlySet<string> = new Set([
  ...["properties", "patternProperties", "additionalProperties", "unevaluatedProperties"],
  ...["required", "propertyNames", "minProperties", "maxProperties"],
  ...["dependentRequired", "dependentSchemas"],
])

/** Keywords that read the items of arrays. */
export const OF_ARRAYS: ReadonlySet<string> = new Set([
  ...["items", "prefixItems", "contains", "unevaluatedItems"],
  ...["uniqueItems", "minItems", "maxItems"],
])

/** Whether a schema reads parts of values through one of these keywords. */
export function looksInto(schema: JsonSchema, keywords: ReadonlySet<string>): boolean {
  return Object.keys(schema).some((keyword) => {
    const value = schema[keyword]
    if (!keywords.has(keyword) || value === true) return false
    // An empty value requires nothing, except for `contains`, which requires an item.
    return keyword === "contains" || !(isObject(value) && Object.keys(value).length === 0)
  })
}

/** Whether a schema may read everything in a value. */
export function looksAtEverything(schema: JsonSchema): boolean {
  if (schema["uniqueItems"] === true) return true
  if (!Object.hasOwn(schema, "~refine")) return false
  const { type } = schema
  const types = Array.isArray(type) ? type : [type ?? "object"]
  return types.includes("object") || types.includes("array")
}

/** Whether a schema describes bytes, in any form that the platform has. */
export function isOfBytes({ format, contentEncoding, contentMediaType }: JsonSchema): boolean {
  return format === "binary" || contentEncoding !== undefined || contentMediaType !== undefined
}

/** A schema that reads everything that a value contains. */
export function schemaOfValue(value: unknown): JsonSchema {
  if (Array.isArray(value)) return { minItems: 0, prefixItems: value.map(schemaOfValue) }
  if (!isObject(value)) return {}
  const entries = Object.entries(value).map(([key, item]) => [key, schemaOfValue(item)])
  return { minProperties: 0, properties: Object.fromEntries(entries) }
}
