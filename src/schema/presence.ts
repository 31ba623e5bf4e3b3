import { isRecord } from "../internal/guards.ts"
import { getOwn } from "./json.ts"
import type { Links, SchemaNode } from "./refs.ts"

/** Names that every object inherits, which the compiler's `in` test finds in an empty object. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype))

/** Names the compiler itself looks up as own properties. */
const HANDLED: ReadonlySet<string> = new Set(["__proto__", "constructor"])

/** Whether a property of this name would be found in every object by the compiler's test. */
export function isDeceptive(key: string): boolean {
  return INHERITED.has(key) && !HANDLED.has(key)
}

/** Whether an object has a property, not counting what every object inherits. */
export function hasKey(value: object, key: string): boolean {
  return INHERITED.has(key) ? Object.hasOwn(value, key) : key in value
}

/**
 * Whether a required property counts as missing.
 *
 * `JSON.stringify` drops a key whose value is `undefined`, so it is missing, unless its own schema mentions
 * `undefined` (`Type.Undefined()`), which makes it a JavaScript value rather than a JSON one.
 */
export function isMissing(value: object, key: string, tolerant: boolean): boolean {
  if (!hasKey(value, key)) return true
  return !tolerant && (value as Record<string, unknown>)[key] === undefined
}

/**
 * How the schema of a required property treats `undefined`: the compiler's own check refuses it
 * ("refused", the usual case, which costs nothing), it is intentionally allowed ("allowed"), or the check would
 * not notice it and needs an addition ("unnoticed").
 */
export function undefinedIn(
  schema: Record<string, unknown>,
  key: string,
  links: Links,
): "refused" | "allowed" | "unnoticed" {
  const { properties } = schema
  const property = isRecord(properties) ? getOwn(properties, key) : undefined
  if (!isRecord(property)) return property === false ? "refused" : "unnoticed"
  if (mentionsUndefined(property, links, new Set())) return "allowed"
  return refusesUndefined(property, links, new Set()) ? "refused" : "unnoticed"
}

/** Whether the compiled check of a schema that does not mention `undefined` certainly refuses it. */
function refusesUndefined(schema: SchemaNode, links: Links, seen: Set<object>): boolean {
  if (typeof schema === "boolean") return !schema
  if ("type" in schema || "const" in schema || "enum" in schema) return true
  // A cycle: this schema cannot refuse by itself.
  if (seen.has(schema)) return false
  seen.add(schema)
  const refuses = (member: SchemaNode): boolean => refusesUndefined(member, links, seen)
  const { allOf, anyOf, oneOf } = schema
  if (Array.isArray(allOf) && allOf.some(refuses)) return true
  if (Array.isArray(anyOf) && anyOf.every(refuses)) return true
  if (Array.isArray(oneOf) && oneOf.every(refuses)) return true
  return "$ref" in schema && refuses(links.target(schema, "$ref"))
}

function mentionsUndefined(schema: SchemaNode, links: Links, seen: Set<object>): boolean {
  if (typeof schema === "boolean" || seen.has(schema)) return false
  seen.add(schema)
  const { type } = schema
  for (const name of Array.isArray(type) ? type : [type]) {
    if (name === "undefined" || name === "void") return true
  }
  if ("$ref" in schema && mentionsUndefined(links.target(schema, "$ref"), links, seen)) return true
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    const members = schema[keyword]
    if (!Array.isArray(members)) continue
    if (members.some((member: SchemaNode) => mentionsUndefined(member, links, seen))) return true
  }
  return false
}
