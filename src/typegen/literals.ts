// `const` and `enum`: values as types.

import { ownValues } from "../schema/read/values.ts"
import { isRecord } from "../internal/guards.ts"
import { jsonType } from "../schema/json.ts"
import { union } from "./combine.ts"
import { NEVER, OPEN_OBJECT, SIMPLE_TYPES, UNKNOWN } from "./model.ts"
import type { TypeNode } from "./model.ts"

/** Maximum number of values in a union; more only slow down the compiler. */
const MAX_VALUES = 1000
const MAX_DEPTH = 20

/** The values that a schema lists, of those its `type` allows; `undefined` when it lists none. */
export function listedValues(schema: Readonly<Record<string, unknown>>): TypeNode | undefined {
  // Next to an enum, a `const` decides alone.
  const values = ownValues(schema)
  if (values === undefined) return undefined
  const allowed = allowedTypes(schema["type"])
  const fitting = values.filter((value) => allowed === undefined || allowed.has(jsonType(value)))
  const types = fitting.length > MAX_VALUES ? fitting.map(wide) : fitting.map((one) => literal(one))
  return union(types)
}

function allowedTypes(type: unknown): ReadonlySet<string> | undefined {
  const names = typeof type === "string" ? [type] : Array.isArray(type) ? type : undefined
  return names && new Set(names.map((name) => (name === "integer" ? "number" : String(name))))
}

function literal(value: unknown, depth = 0): TypeNode {
  if (depth > MAX_DEPTH) return UNKNOWN
  if (typeof value === "string" || typeof value === "boolean") return { kind: "literal", value }
  if (typeof value === "number" && Number.isFinite(value)) return { kind: "literal", value }
  if (Array.isArray(value)) {
    const items = value.map((item) => literal(item, depth + 1))
    return { kind: "tuple", items, minItems: items.length, rest: undefined }
  }
  return isRecord(value) ? objectLiteral(value, depth) : wide(value)
}

function objectLiteral(value: Record<string, unknown>, depth: number): TypeNode {
  const properties = Object.entries(value).map(([key, inner]) => ({
    key,
    type: literal(inner, depth + 1),
    isOptional: false,
  }))
  const index = properties.length === 0 ? [{ prefix: "", type: NEVER }] : []
  return { kind: "object", properties, index }
}

function wide(value: unknown): TypeNode {
  if (Array.isArray(value)) return { kind: "array", item: UNKNOWN }
  return isRecord(value) ? OPEN_OBJECT : (SIMPLE_TYPES.get(jsonType(value)) ?? UNKNOWN)
}
