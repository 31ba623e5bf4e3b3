// Which option of a choice an input has, and what of it the form does not draw.

import { isRecord } from "../../../../src/internal/guards.ts"
import { jsonType } from "../../../../src/schema/json.ts"
import type { Field } from "./field.ts"
import { own } from "./json.ts"
import { sameData } from "../../../../src/internal/same-data.ts"
import type { Path } from "./json.ts"

/** A value of another type than the field has. */
const OTHER_TYPE = 1000
/** Another value than the one that distinguishes an option. */
const OTHER_CONSTANT = 100
const OTHER_VALUE = 10
const UNKNOWN_NAME = 2

const MAX_DEPTH = 4
const MAX_ITEMS = 20

/** The number of the option that is shown for a value: the one that was picked, unless the value is of another. */
export function optionFor(field: Field, value: unknown, picked = -1): number {
  const costs = field.options.map((option) => mismatch(option.field, value))
  if ((costs[picked] ?? OTHER_TYPE) < OTHER_CONSTANT) return picked
  return Math.max(0, costs.indexOf(Math.min(...costs)))
}

/** How far a value is from what a field takes; 0 if nothing is wrong that can be seen without a validator. */
export function mismatch(field: Field, value: unknown, depth = 0): number {
  if (value === undefined || depth > MAX_DEPTH || field.kind === "json") return 0
  if (value === null && field.isNullable) return 0
  const wrong = depth === 0 ? OTHER_TYPE : OTHER_VALUE
  switch (field.kind) {
    case "values": {
      if (field.values?.some((one) => sameData(one.value, value))) return 0
      return field.constant === undefined ? wrong : OTHER_CONSTANT
    }
    case "choice":
      return Math.min(...field.options.map((option) => mismatch(option.field, value, depth)))
    case "object":
      return isRecord(value) ? objectMismatch(field.under(value), value, depth) : wrong
    case "array":
    case "several": {
      if (!Array.isArray(value)) return wrong
      const items = value.slice(0, MAX_ITEMS).map((item: unknown, index) => {
        const child = field.item(index)
        return child === undefined ? UNKNOWN_NAME : mismatch(child, item, depth + 1)
      })
      return items.reduce((sum, cost) => sum + cost, 0)
    }
    default: {
      const type = typeof value === "bigint" ? "number" : jsonType(value)
      const types = field.types.map((one) => (one === "integer" ? "number" : one))
      return types.includes(type) || (types.length === 0 && type === TYPES[field.kind]) ? 0 : wrong
    }
  }
}

const TYPES: Readonly<Record<string, string>> = { text: "string", null: "null" }

function objectMismatch(
  field: Field,
  value: Readonly<Record<string, unknown>>,
  depth: number,
): number {
  const missing = [...field.required].filter((name) => !Object.hasOwn(value, name)).length
  const costs = Object.entries(value).map(([name, item]) => {
    const child = field.property(name) ?? field.rest
    return child === undefined ? UNKNOWN_NAME : mismatch(child, item, depth + 1)
  })
  return costs.reduce((sum, cost) => sum + cost, missing)
}

/** The paths of an input that its form does not draw, although they are sent. */
export function unseenIn(field: Field, value: unknown, path: Path = []): readonly Path[] {
  if (field.kind === "json") return []
  // A fixed value is not drawn.
  const { constant } = field
  if (constant !== undefined) return sameData(constant, value) ? [] : [path]
  if (field.kind === "choice") {
    const option = field.options[optionFor(field, value)]
    return option === undefined ? [] : unseenIn(option.field, value, path)
  }
  const below = (child: Field | undefined, item: unknown, at: Path): readonly Path[] =>
    child === undefined ? [at] : unseenIn(child, item, at)
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) =>
      below(field.kind === "object" ? undefined : field.item(index), item, [...path, index]),
    )
  }
  if (!isRecord(value)) return []
  const shown = field.under(value)
  const drawn = new Set(shown.names)
  return Object.keys(value).flatMap((name) => {
    const child = drawn.has(name) ? shown.property(name) : undefined
    const other = shown.property(name) === undefined ? shown.rest : undefined
    return below(child ?? other, own(value, name), [...path, name])
  })
}
