// Arrays and tuples.

import { union } from "./combine.ts"
import { NEVER, UNKNOWN } from "./model.ts"
import type { TypeNode } from "./model.ts"

/** Maximum length of a tuple; longer ones become arrays. */
const MAX_PLACES = 100

/** The type of an array schema. */
export function arrayType(
  schema: Readonly<Record<string, unknown>>,
  convert: (schema: unknown) => TypeNode,
): TypeNode {
  const { places, others } = itemsOf(schema)
  if (places === undefined) return { kind: "array", item: convert(others ?? true) }
  const maxItems = count(schema["maxItems"], Number.POSITIVE_INFINITY)
  const items = places.slice(0, Math.min(maxItems, MAX_PLACES)).map(convert)
  const rest = restOf(places.length, maxItems, others, convert)
  if (places.length > MAX_PLACES) {
    return { kind: "array", item: union([...items, UNKNOWN]) }
  }
  if (items.length === 0) return { kind: "array", item: rest ?? NEVER }
  const minItems = Math.min(count(schema["minItems"], 0), items.length)
  return { kind: "tuple", items, minItems: minItems, rest }
}

/** Older dialects have the tuple in `items`, and the schema of further items in `additionalItems`. */
function itemsOf(schema: Readonly<Record<string, unknown>>): {
  places: readonly unknown[] | undefined
  others: unknown
} {
  const { prefixItems, items, additionalItems } = schema
  if (Array.isArray(prefixItems)) return { places: prefixItems, others: items }
  if (Array.isArray(items)) return { places: items, others: additionalItems }
  return { places: undefined, others: items }
}

function restOf(
  places: number,
  maxItems: number,
  others: unknown,
  convert: (schema: unknown) => TypeNode,
): TypeNode | undefined {
  if (maxItems <= places || others === false) return undefined
  const rest = convert(others ?? true)
  return rest === NEVER ? undefined : rest
}

function count(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? Math.floor(value) : otherwise
}
