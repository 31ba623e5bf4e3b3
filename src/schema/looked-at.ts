import type { JsonSchema } from "./json.ts"

/** Keywords that look into objects. */
export const OF_OBJECTS: ReadonlySet<string> = new Set([
  ...["properties", "patternProperties", "additionalProperties", "unevaluatedProperties"],
  ...["required", "propertyNames", "minProperties", "maxProperties"],
  ...["dependentRequired", "dependentSchemas"],
])

/** Keywords that look into arrays. */
export const OF_ARRAYS: ReadonlySet<string> = new Set([
  ...["items", "prefixItems", "contains", "unevaluatedItems"],
  ...["uniqueItems", "minItems", "maxItems"],
])

/** Whether a schema looks into values by one of these keywords. */
export function looks(schema: JsonSchema, keywords: ReadonlySet<string>): boolean {
  return Object.keys(schema).some((keyword) => {
    const value = schema[keyword]
    if (!keywords.has(keyword) || value === true) return false
    // Empty ones say nothing; `contains` says that there is an item.
    return keyword === "contains" || !(isObject(value) && Object.keys(value).length === 0)
  })
}

/** Whether a schema looks at everything in a value, or may do so. */
export function seesAll(schema: JsonSchema): boolean {
  if (schema["uniqueItems"] === true) return true
  if (!Object.hasOwn(schema, "~refine")) return false
  const { type } = schema
  const types = Array.isArray(type) ? type : [type ?? "object"]
  return types.includes("object") || types.includes("array")
}

/** Whether a schema is one of bytes, in whatever form the platform has them. */
export function isOfBytes({ format, contentEncoding, contentMediaType }: JsonSchema): boolean {
  return format === "binary" || contentEncoding !== undefined || contentMediaType !== undefined
}

/** A schema that looks at all that a value has. */
export function schemaOfValue(value: unknown): JsonSchema {
  if (Array.isArray(value)) return { minItems: 0, prefixItems: value.map(schemaOfValue) }
  if (!isObject(value)) return {}
  const entries = Object.entries(value).map(([key, item]) => [key, schemaOfValue(item)])
  return { minProperties: 0, properties: Object.fromEntries(entries) }
}

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}
