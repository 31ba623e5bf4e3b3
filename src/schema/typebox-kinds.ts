import { isRecord } from "../internal/guards.ts"
import { getOwn } from "./json.ts"
import { eachSubschema } from "./keywords.ts"

type Node = Record<string, unknown>

const SCALARS: Readonly<Record<string, string>> = {
  string: "String",
  number: "Number",
  integer: "Integer",
  boolean: "Boolean",
  null: "Null",
}

/**
 * Tags the parts of a schema as TypeBox types, so that `Type.Partial`, `Type.Pick`,
 * `Value.Default` and similar functions work on it.
 *
 * The tags are non-enumerable properties, as in TypeBox, so that JSON and copies do not contain them.
 * Call it before the schema is frozen.
 */
export function tagSchema(schema: Node): void {
  tagTypes(schema)
  tagReference(schema)
}

function tagTypes(schema: Node): void {
  const kind = kindOf(schema)
  if (kind !== undefined) setTag(schema, "~kind", kind)
  eachSubschema(schema, (part) => {
    if (isRecord(part) && !Object.hasOwn(part, "~kind")) tagTypes(part)
  })
  if (kind === "Object") tagOptional(schema)
}

/** Tags a schema that refers to one of its own definitions like its target, if that is an object. */
function tagReference(schema: Node): void {
  const { $ref, $defs } = schema
  if (typeof $ref !== "string" || !isRecord($defs)) return
  const target = getOwn($defs, $ref.slice("#/$defs/".length))
  if (!isRecord(target) || target["~kind"] !== "Object") return
  for (const name of ["~kind", "type", "properties", "required"]) setTag(schema, name, target[name])
}

/** Whether the keywords beside a reference were only added by `tagReference`, and repeat its target. */
export function isTaggedReference(schema: Readonly<Node>): boolean {
  return typeof schema["$ref"] === "string" && Object.hasOwn(schema, "~kind")
}

/** TypeBox reads from the property whether it is optional, not from `required`. */
function tagOptional({ properties, required }: Node): void {
  const names = new Set(Array.isArray(required) ? required : [])
  for (const [name, property] of Object.entries(properties as Node)) {
    if (!names.has(name) && isRecord(property)) setTag(property, "~optional", true)
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
      return isRecord(schema["properties"]) ? "Object" : undefined
    case "array":
      return isRecord(schema["items"]) && schema["prefixItems"] === undefined ? "Array" : undefined
    default:
      return typeof type === "string" ? SCALARS[type] : undefined
  }
}

function setTag(schema: Node, name: string, value: unknown): void {
  if (Object.hasOwn(schema, name)) return
  Object.defineProperty(schema, name, { value, enumerable: false, configurable: true })
}
