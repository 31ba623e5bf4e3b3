import { getOwn, isPlainRecord } from "./json.ts"

type Node = Record<string, unknown>

const SCALARS: Readonly<Record<string, string>> = {
  string: "String",
  number: "Number",
  integer: "Integer",
  boolean: "Boolean",
  null: "Null",
}
const HELD = ["items", "additionalProperties", "not", "if", "then", "else", "contains"] as const
const LISTS = ["anyOf", "allOf", "oneOf", "prefixItems"] as const
const MAPS = ["properties", "patternProperties", "$defs"] as const

/**
 * Marks the parts of a schema as the TypeBox types that they are, so that `Type.Partial`, `Type.Pick`,
 * `Value.Default` and their kin work on it.
 *
 * The marks are properties that are not listed, as TypeBox has them: JSON and copies do not show them.
 * To be called before the schema is frozen.
 */
export function markSchema(schema: Node): void {
  markTypes(schema)
  markReference(schema)
}

function markTypes(schema: Node): void {
  const kind = kindOf(schema)
  if (kind !== undefined) mark(schema, "~kind", kind)
  for (const keyword of HELD) {
    const part = schema[keyword]
    if (isUnmarked(part)) markTypes(part)
  }
  for (const keyword of LISTS) {
    const list = schema[keyword]
    if (Array.isArray(list)) list.filter(isUnmarked).forEach(markTypes)
  }
  for (const keyword of MAPS) {
    const map = schema[keyword]
    if (isPlainRecord(map)) Object.values(map).filter(isUnmarked).forEach(markTypes)
  }
  if (kind === "Object") markOptional(schema)
}

/** Marks a schema that is a reference to one of its own definitions as what it refers to, where that is an object. */
function markReference(schema: Node): void {
  const { $ref, $defs } = schema
  if (typeof $ref !== "string" || !isPlainRecord($defs)) return
  const target = getOwn($defs, $ref.slice("#/$defs/".length))
  if (!isPlainRecord(target) || target["~kind"] !== "Object") return
  for (const name of ["~kind", "type", "properties", "required"]) mark(schema, name, target[name])
}

/** Whether what a schema says beside its reference was only marked: it says the same once more. */
export function isMarkedReference(schema: Readonly<Node>): boolean {
  return typeof schema["$ref"] === "string" && Object.hasOwn(schema, "~kind")
}

/** TypeBox asks the property whether it is optional, not `required`. */
function markOptional({ properties, required }: Node): void {
  const names = new Set(Array.isArray(required) ? required : [])
  for (const [name, property] of Object.entries(properties as Node)) {
    if (!names.has(name) && isPlainRecord(property)) mark(property, "~optional", true)
  }
}

function kindOf(schema: Node): string | undefined {
  const { type, anyOf, allOf, $ref, const: only, enum: values } = schema
  if ($ref !== undefined || schema["oneOf"] !== undefined) return undefined
  if (["string", "number", "boolean"].includes(typeof only)) return "Literal"
  if (Array.isArray(values)) return "Enum"
  switch (type) {
    case undefined:
      if (Array.isArray(anyOf)) return allOf === undefined ? "Union" : undefined
      if (Array.isArray(allOf)) return "Intersect"
      return Object.keys(schema).length === 0 ? "Unknown" : undefined
    case "object":
      if (anyOf !== undefined || allOf !== undefined) return undefined
      return isPlainRecord(schema["properties"]) ? "Object" : undefined
    case "array":
      return isPlainRecord(schema["items"]) && schema["prefixItems"] === undefined
        ? "Array"
        : undefined
    default:
      return typeof type === "string" ? SCALARS[type] : undefined
  }
}

function isUnmarked(part: unknown): part is Node {
  return isPlainRecord(part) && !Object.hasOwn(part, "~kind")
}

function mark(schema: Node, name: string, value: unknown): void {
  if (Object.hasOwn(schema, name)) return
  Object.defineProperty(schema, name, { value, enumerable: false, configurable: true })
}
