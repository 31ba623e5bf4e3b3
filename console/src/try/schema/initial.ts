import { isRecord } from "../../../../src/internal/guards.ts"
import { isSchema, setOwn } from "../../../../src/schema/json.ts"
import { namedSchemas, own, schemasUnder, stringsUnder, typesOf } from "./json.ts"
import type { JsonRecord, JsonSchema } from "./json.ts"
import { merged } from "./merge.ts"

/** The initial value of a form: required values and defaults. Bounded, because schemas may be recursive. */
export function initialValue(root: JsonSchema, schema: JsonSchema = root): unknown {
  return fill(root, schema, 0)
}

/** The initial input of an operation. */
export function startValue(schema: unknown): unknown {
  return isSchema(schema) ? initialValue(schema) : undefined
}

const MAX_DEPTH = 6
const MAX_PROPERTIES = 200

function fill(root: JsonSchema, source: JsonSchema, depth: number): unknown {
  const schema = merged(root, source)
  if (schema === undefined || depth > MAX_DEPTH) return undefined
  const values = own(schema, "enum")
  const only = Array.isArray(values) && values.length === 1 ? (values as unknown[])[0] : undefined
  const presets = [own(schema, "const"), own(schema, "default"), only]
  const preset = presets.find((value) => value !== undefined)
  return preset === undefined ? fillByType(root, schema, depth) : preset
}

function fillByType(root: JsonSchema, schema: JsonRecord, depth: number): unknown {
  const [union] = [...schemasUnder(schema, "oneOf"), ...schemasUnder(schema, "anyOf")]
  const type = typesOf(schema).find((one) => one !== "null") ?? typesOf(schema)[0]
  if (type === "object" || (type === undefined && isRecord(own(schema, "properties")))) {
    return fillObject(root, schema, depth, union)
  }
  if (union !== undefined && type === undefined) return fill(root, union, depth + 1)
  return type === "array" ? fillArray(root, schema, depth) : undefined
}

function fillObject(
  root: JsonSchema,
  schema: JsonRecord,
  depth: number,
  union: JsonSchema | undefined,
): unknown {
  const required = new Set(stringsUnder(schema, "required"))
  const filled = {}
  for (const [name, child] of namedSchemas(schema, "properties").slice(0, MAX_PROPERTIES)) {
    if (own(child, "readOnly") === true) continue
    const flat = merged(root, child)
    if (!required.has(name) && (own(flat, "default") ?? null) === null) continue
    // An unticked box means false already.
    const value =
      fill(root, child, depth + 1) ?? (own(flat, "type") === "boolean" ? false : undefined)
    if (value !== undefined) setOwn(filled, name, value)
  }
  const chosen = union === undefined ? undefined : merged(root, union)
  if (chosen !== undefined && depth < MAX_DEPTH) {
    const more = fillObject(root, chosen, depth + 1, undefined)
    for (const [name, value] of Object.entries(isRecord(more) ? more : {}))
      setOwn(filled, name, value)
  }
  return filled
}

function fillArray(root: JsonSchema, schema: JsonRecord, depth: number): unknown {
  const prefix = schemasUnder(schema, "prefixItems")
  const start = (item: JsonSchema): unknown => fill(root, item, depth + 1) ?? emptyOf(root, item)
  if (prefix.length > 0) return prefix.slice(0, 50).map(start)
  const least = own(schema, "minItems")
  const items = own(schema, "items")
  if (typeof least !== "number" || least <= 0 || !isSchema(items)) return []
  const item = start(items)
  return Array.from({ length: Math.min(least, 5) }, () => structuredClone(item))
}

/** The initial value of a new item without a default. */
export function emptyOf(root: JsonSchema, source: JsonSchema): unknown {
  const filled = fill(root, source, 1)
  if (filled !== undefined) return filled
  const schema = merged(root, source)
  const values = own(schema, "enum")
  if (Array.isArray(values)) return values[0] as unknown
  const type = schema === undefined ? undefined : typesOf(schema).find((one) => one !== "null")
  if (type === "number" || type === "integer") return leastNumber(schema)
  if (type === "boolean") return false
  if (type === "object") return {}
  if (type === "array") return []
  return schema !== undefined && typesOf(schema)[0] === "null" ? null : ""
}

function leastNumber(schema: JsonSchema | undefined): number {
  const least = own(schema, "minimum")
  const above = own(schema, "exclusiveMinimum")
  if (typeof least === "number") return least
  return typeof above === "number" ? Math.floor(above) + 1 : 0
}
