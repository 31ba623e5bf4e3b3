// A small value that fits a schema: what the schema shows itself, else the least that it asks for.

import { isRecord } from "../../../internal/guards.ts"
import { listOf, setOwn } from "../../json.ts"
import type { JsonSchema } from "../../json.ts"
import { alternativesOf, flatten, propertiesOf, requiredOf } from "../flatten.ts"
import type { Flat } from "../flatten.ts"
import type { Part } from "../resolve-ref.ts"
import { typesOf } from "../types.ts"
import { valuesOf } from "../values.ts"
import { sampleNumber } from "./sample-number.ts"
import { sampleText } from "./sample-text.ts"

// Something that must hold itself has no value at all.
const MAX_DEPTH = 12
// Deeper down, only what must be there: schemas may be recursive.
const MAX_FULL_DEPTH = 5
const MAX_ITEMS = 20

/** What a sample shows. */
interface Sampling {
  /** Also optional properties with an example or a default, and an item of each list. */
  readonly isFull: boolean
  readonly depth: number
}

/** A sample value for a schema. It may be invalid for unusual schemas; the hub reports that when it is called. */
export function sampleOf(part: Part): unknown {
  return sample([part], { isFull: false, depth: 0 })
}

/** A sample value that shows what else belongs into it. */
export function fullSampleOf(part: Part): unknown {
  return sample([part], { isFull: true, depth: 0 })
}

/** A sample value for schemas that all apply. */
function sample(parts: readonly Part[], how: Sampling): unknown {
  const flat = flatten(parts)
  const declared = declaredValue(flat)
  if (declared !== undefined) return declared.value
  if (how.depth > MAX_DEPTH) return null
  // With the first member of every union.
  const [first = flat] = alternativesOf(flat, 1)
  const depth = how.depth + 1
  return made(first, { isFull: how.isFull && depth <= MAX_FULL_DEPTH, depth })
}

/** A value that the schema declares: an example, its default, the first of its values. */
function declaredValue(flat: Flat): { readonly value: unknown } | undefined {
  for (const { schema } of flat.layers) {
    const example = exampleIn(schema)
    if (example !== undefined && fits(example, flat)) return { value: example }
    if (schema["default"] !== undefined && fits(schema["default"], flat)) {
      return { value: schema["default"] }
    }
  }
  const values = valuesOf(flat)
  return values === undefined || values.length === 0 ? undefined : { value: values[0] }
}

function exampleIn(schema: JsonSchema): unknown {
  const [example = schema["example"]] = listOf(schema["examples"])
  return example
}

/** Examples are often written without a look at the schema. */
function fits(value: unknown, flat: Flat): boolean {
  const values = valuesOf(flat)
  if (values !== undefined && typeof value !== "object" && !values.includes(value)) return false
  const types = typesOf(flat)
  if (value === null) return flat.isNullable || types.length === 0 || types.includes("null")
  if (types.length === 0) return true
  if (Array.isArray(value)) return types.includes("array")
  if (typeof value === "number") {
    return types.includes("number") || (types.includes("integer") && Number.isInteger(value))
  }
  if (!isRecord(value)) return types.includes(typeof value)
  if (!types.includes("object")) return false
  return [...requiredOf(flat)].every((name) => Object.hasOwn(value, name))
}

function made(flat: Flat, how: Sampling): unknown {
  const declared = declaredValue(flat)
  if (declared !== undefined) return declared.value
  const [type] = typesOf(flat).filter((one) => one !== "null")
  switch (type) {
    case "object":
      return madeObject(flat, how)
    case "array":
      return madeArray(flat, how)
    case "string":
      return sampleText(flat)
    case "number":
    case "integer":
      return sampleNumber(flat, type === "integer")
    case "boolean":
      return true
    default:
      return typesOf(flat).includes("null") ? null : madeOfAnything(flat)
  }
}

function madeOfAnything(flat: Flat): unknown {
  const isText = flat.layers.some(({ schema }) => schema["format"] !== undefined)
  return isText ? sampleText(flat) : {}
}

/** Every property that must be given; of the others those that a full sample shows. */
function madeObject(flat: Flat, how: Sampling): unknown {
  const value: Record<string, unknown> = {}
  const properties = propertiesOf(flat)
  const required = requiredOf(flat)
  for (const name of required) {
    const parts = properties.get(name)
    setOwn(value, name, parts === undefined ? "…" : sample(parts, how))
  }
  if (!how.isFull) return value
  for (const [name, parts] of properties) {
    if (!required.has(name) && isOffered(flatten(parts))) setOwn(value, name, sample(parts, how))
  }
  return value
}

function isOffered({ layers }: Flat): boolean {
  if (layers.some(({ schema }) => schema["readOnly"] === true)) return false
  return layers.some(
    ({ schema }) => schema["default"] !== undefined || exampleIn(schema) !== undefined,
  )
}

function madeArray(flat: Flat, how: Sampling): unknown {
  const least = Math.max(0, ...flat.layers.map(({ schema }) => Number(schema["minItems"]) || 0))
  const items: unknown[] = []
  const wanted = how.isFull && itemAt(flat, 0) !== undefined ? Math.max(1, least) : least
  for (let index = 0; index < Math.min(wanted, MAX_ITEMS); index++) {
    const part = itemAt(flat, index)
    items.push(part === undefined ? "…" : different(sample([part], how), items, flat))
  }
  return items
}

function itemAt(flat: Flat, index: number): Part | undefined {
  for (const { schema, scope } of flat.layers) {
    const place = listOf(schema["prefixItems"])[index]
    if (place !== undefined) return { schema: place, scope }
    if (isRecord(schema["items"])) return { schema: schema["items"], scope }
  }
  return undefined
}

/** Makes texts and numbers distinct where items must be unique. */
function different(value: unknown, items: readonly unknown[], flat: Flat): unknown {
  if (!flat.layers.some(({ schema }) => schema["uniqueItems"] === true)) return value
  if (typeof value === "number") return value + items.length
  return typeof value === "string" && items.length > 0 ? `${value}${items.length + 1}` : value
}
