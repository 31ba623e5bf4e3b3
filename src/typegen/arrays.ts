// Arrays and tuples.

import { union } from "./combine.ts"
import { NEVER, UNKNOWN } from "./model.ts"
import type { TypeNode } from "./model.ts"

/** More places than that are a list. */
const MAX_PLACES = 100

/** The type of a schema of arrays. */
export function arrayType(
  schema: Readonly<Record<string, unknown>>,
  convert: (schema: unknown) => TypeNode,
): TypeNode {
  const { places, others } = itemsOf(schema)
  if (places === undefined) return { kind: "array", item: convert(others ?? true) }
  const most = count(schema["maxItems"], Number.POSITIVE_INFINITY)
  const items = places.slice(0, Math.min(most, MAX_PLACES)).map(convert)
  const rest = restOf(places.length, most, others, convert)
  if (places.length > MAX_PLACES) {
    return { kind: "array", item: union([...items, UNKNOWN]) }
  }
  if (items.length === 0) return { kind: "array", item: rest ?? NEVER }
  const least = Math.min(count(schema["minItems"], 0), items.length)
  return { kind: "tuple", items, least, rest }
}

/** Older dialects have a list in `items`, and the schema of all others beside it. */
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
  most: number,
  others: unknown,
  convert: (schema: unknown) => TypeNode,
): TypeNode | undefined {
  if (most <= places || others === false) return undefined
  const rest = convert(others ?? true)
  return rest === NEVER ? undefined : rest
}

function count(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? Math.floor(value) : otherwise
}
