import { isRecord } from "../../internal/guards.ts"
import { isNoValue, JSON_TYPES, type JsonSchema } from "../json.ts"
import { ANNOTATIONS, mapSchemas } from "../keywords.ts"
import { resolveRef } from "./resolve-ref.ts"

/** A schema as plain JSON: no symbols, no getters, no types that JSON does not have. */
export function plainSchema(schema: unknown): JsonSchema {
  return fromJson(JSON.stringify(schema))
}

/** The JSON form of a schema. */
export function fromJson(json: string): JsonSchema {
  const copy: unknown = JSON.parse(json)
  if (copy === false) return { not: {} }
  return isRecord(copy) ? mapSchemas(copy, (node) => standardNode(node)) : {}
}

/** A schema with `type: "object"` at its root, when it accepts nothing but objects anyway, or everything. */
export function asObject(schema: JsonSchema): JsonSchema | undefined {
  if (schema["type"] === "object") return schema
  if (!hasContent(schema)) return { ...schema, type: "object" }
  return isObjectOnly(schema, schema, 0) ? { type: "object", ...schema } : undefined
}

/** A schema for another place in a document: its own pointers lead there. */
export function movedTo(place: string, schema: JsonSchema): JsonSchema {
  if (typeof schema["$id"] === "string") return schema
  const change = (node: JsonSchema): JsonSchema => {
    const { $ref } = node
    if (typeof $ref !== "string" || !($ref === "#" || $ref.startsWith("#/"))) return node
    return { ...node, $ref: `#${place}${$ref.slice(1)}` }
  }
  // A schema with an `$id` is a document of its own, wherever it lies.
  return mapSchemas(schema, change, (node) => typeof node["$id"] !== "string")
}

/** Whether a schema refuses anything. */
export function hasContent(schema: JsonSchema): boolean {
  const refusesNothing = (keyword: string): boolean =>
    ANNOTATIONS.has(keyword) || keyword === "format" || keyword.startsWith("x-")
  return !Object.keys(schema).every(refusesNothing)
}

function isObjectOnly(schema: unknown, root: JsonSchema, depth: number): boolean {
  if (!isRecord(schema) || depth > 16) return false
  const { type, $ref, allOf, anyOf, oneOf } = schema
  if (type !== undefined) return type === "object"
  const isObject = (one: unknown): boolean => isObjectOnly(one, root, depth + 1)
  if (typeof $ref === "string" && isObject(resolveRef(root, $ref))) return true
  if (Array.isArray(allOf) && allOf.some(isObject)) return true
  if (Array.isArray(anyOf) && anyOf.length > 0 && anyOf.every(isObject)) return true
  return Array.isArray(oneOf) && oneOf.length > 0 && oneOf.every(isObject)
}

/**
 * A schema, not those in it, without what validators of clients refuse: types that JSON does not have, names that are
 * required twice. What is left of a choice is merged in the form that `change` gives it.
 */
export function standardNode(
  node: JsonSchema,
  change: (only: JsonSchema) => JsonSchema = (only) => only,
): JsonSchema {
  const { type, anyOf, required } = node
  let out: Record<string, unknown> = node
  if (Array.isArray(required) && new Set(required).size < required.length) {
    out = { ...out, required: [...new Set(required)] }
  }
  if (Array.isArray(anyOf) && anyOf.some(isNoValue)) {
    const { anyOf: _, ...rest } = out
    const left: unknown[] = anyOf.filter((one) => !isNoValue(one))
    const [only] = left
    if (left.length === 1 && isRecord(only)) out = { ...rest, ...change(only) }
    else out = left.length === 0 ? rest : { ...rest, anyOf: left }
  }
  // Libraries have more types than JSON Schema, and clients refuse those.
  if (typeof type !== "string" || JSON_TYPES.has(type)) return out
  const { type: _, ...rest } = out
  return rest
}
