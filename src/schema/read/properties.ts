import { isNoValue, isPlainRecord } from "../json.ts"
import type { JsonSchema } from "../json.ts"
import { resolveRef } from "./resolve-ref.ts"

/** What an object may have, gathered from all parts of its schema. */
export interface ObjectProperties {
  /** One schema per name; several are alternatives. */
  readonly properties: ReadonlyMap<string, JsonSchema>
  /** Names that every value has. */
  readonly required: ReadonlySet<string>
  /** What holds for all other names. */
  readonly rest: JsonSchema
}

const MAX_DEPTH = 16
const EVERY: ReadonlySet<string> = new Set()

/**
 * The JSON types that values of a schema can have; `integer` counts as `number`.
 *
 * Empty when the schema does not say.
 */
export function typesOf(schema: JsonSchema, root: JsonSchema, depth = 0): ReadonlySet<string> {
  if (depth > MAX_DEPTH) return EVERY
  const { type, enum: values, $ref, allOf } = schema
  if (typeof type === "string") return new Set(type === "void" ? [] : [plain(type)])
  if (Array.isArray(type)) return new Set(type.map((one) => plain(String(one))))
  if (Object.hasOwn(schema, "const")) return new Set([typeName(schema["const"])])
  if (Array.isArray(values)) return new Set(values.map(typeName))
  const target = typeof $ref === "string" ? targetOf(root, $ref) : undefined
  if (target !== undefined) {
    const types = typesOf(target, root, depth + 1)
    if (types.size > 0) return types
  }
  for (const keyword of ["anyOf", "oneOf"]) {
    const types = unionOf(schema[keyword], root, depth)
    if (types.size > 0) return types
  }
  if (Array.isArray(allOf)) {
    for (const part of allOf) {
      const types = isPlainRecord(part) ? typesOf(part, root, depth + 1) : EVERY
      if (types.size > 0) return types
    }
  }
  return isPlainRecord(schema["properties"]) ? new Set(["object"]) : EVERY
}

/** The schema of every item of a list; `undefined` if there is none, or only for single items. */
export function itemsOf(schema: JsonSchema, root: JsonSchema, depth = 0): JsonSchema | undefined {
  const { items, prefixItems, $ref } = schema
  if (prefixItems !== undefined || depth > MAX_DEPTH) return undefined
  if (isPlainRecord(items)) return items
  const target = typeof $ref === "string" ? targetOf(root, $ref) : undefined
  if (target !== undefined) return itemsOf(target, root, depth + 1)
  const parts = schema["anyOf"] ?? schema["oneOf"]
  if (!Array.isArray(parts)) return undefined
  const lists = parts.filter((part) => isPlainRecord(part) && typesOf(part, root).has("array"))
  const [only] = lists as JsonSchema[]
  return only !== undefined && lists.length === 1 ? itemsOf(only, root, depth + 1) : undefined
}

/** What the objects of a schema may have. */
export function objectProperties(root: JsonSchema): ObjectProperties {
  const byName = new Map<string, JsonSchema[]>()
  const rests: JsonSchema[] = []
  const required = gather(root, root, byName, rests, 0)
  return {
    properties: new Map([...byName].map(([name, schemas]) => [name, either(schemas)])),
    required,
    rest: rests.length > 0 ? either(rests) : {},
  }
}

function targetOf(root: JsonSchema, reference: string): JsonSchema | undefined {
  const target = resolveRef(root, reference)
  return isPlainRecord(target) ? target : undefined
}

function gather(
  schema: JsonSchema,
  root: JsonSchema,
  byName: Map<string, JsonSchema[]>,
  rests: JsonSchema[],
  depth: number,
): Set<string> {
  const { properties, additionalProperties, $ref, allOf } = schema
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"].map(String) : [])
  if (depth > MAX_DEPTH) return required
  if (isPlainRecord(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      const schemas = byName.get(name)
      const one = isPlainRecord(property) ? property : {}
      if (schemas === undefined) byName.set(name, [one])
      else schemas.push(one)
    }
  }
  if (isPlainRecord(additionalProperties)) rests.push(additionalProperties)
  const within = (part: unknown): Set<string> =>
    isPlainRecord(part) ? gather(part, root, byName, rests, depth + 1) : new Set()
  const add = (names: ReadonlySet<string>): void => {
    for (const name of names) required.add(name)
  }
  if (typeof $ref === "string") add(within(targetOf(root, $ref)))
  if (Array.isArray(allOf)) for (const part of allOf) add(within(part))
  for (const keyword of ["anyOf", "oneOf"]) {
    const parts = schema[keyword]
    if (!Array.isArray(parts) || parts.length === 0) continue
    const [first = new Set<string>(), ...others] = parts.map(within)
    // A name is required only if every alternative requires it.
    add(new Set([...first].filter((name) => others.every((names) => names.has(name)))))
  }
  return required
}

function either(schemas: readonly JsonSchema[]): JsonSchema {
  const different = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]))
  const [only, ...others] = different.values()
  return only !== undefined && others.length === 0 ? only : { anyOf: [...different.values()] }
}

/** The types of all alternatives; empty if one of them names none. */
function unionOf(parts: unknown, root: JsonSchema, depth: number): ReadonlySet<string> {
  if (!Array.isArray(parts)) return EVERY
  const union = new Set<string>()
  for (const part of parts) {
    if (isNoValue(part)) continue
    const types = isPlainRecord(part) ? typesOf(part, root, depth + 1) : EVERY
    if (types.size === 0) return EVERY
    for (const type of types) union.add(type)
  }
  return union
}

function plain(type: string): string {
  return type === "integer" ? "number" : type
}

function typeName(value: unknown): string {
  if (value === null) return "null"
  return Array.isArray(value) ? "array" : typeof value
}
