import { type JsonSchema, listOf, textOf } from "../json.ts"
import type { Flat } from "./flatten.ts"
import { requirementsOf, typeText } from "./types.ts"
import { valuesOf } from "./values.ts"
import { isRecord } from "../../internal/guards.ts"

/** The facts about a value in a schema, for display. */
export interface Facts {
  readonly type: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly format: string | undefined
  /** The only values that are allowed, as JSON; a single one is a constant. */
  readonly values: readonly string[] | undefined
  readonly default: string | undefined
  readonly examples: readonly string[]
  readonly constraints: readonly string[]
  readonly isDeprecated: boolean
  readonly isReadOnly: boolean
  readonly isWriteOnly: boolean
}

const MAX_EXAMPLES = 5
// Enough to read, too few to make a page slow.
const MAX_VALUES = 2000
const MAX_JSON = 200

/** Gathers the facts about a value; those of the schema itself come before those of its references. */
export function factsOf(flat: Flat): Facts {
  const first = (keyword: string): string | undefined => {
    for (const { schema } of flat.layers) {
      const text = textOf(schema[keyword])
      if (text !== undefined) return text
    }
    return undefined
  }
  const is = (keyword: string): boolean =>
    flat.layers.some(({ schema }) => schema[keyword] === true)
  return {
    type: typeText(flat),
    title: first("title"),
    description: first("description"),
    format: first("format"),
    values: valuesOf(flat)
      ?.slice(0, MAX_VALUES)
      .map((value) => jsonText(value)),
    default: defaultOf(flat),
    examples: examplesOf(flat),
    constraints: constraintsOf(flat),
    isDeprecated: is("deprecated"),
    isReadOnly: is("readOnly"),
    isWriteOnly: is("writeOnly"),
  }
}

function defaultOf(flat: Flat): string | undefined {
  const layer = flat.layers.find(({ schema }) => Object.hasOwn(schema, "default"))
  return layer && jsonText(layer.schema["default"])
}

function examplesOf(flat: Flat): readonly string[] {
  const examples = flat.layers.flatMap(({ schema }) => [
    ...listOf(schema["examples"]),
    ...(Object.hasOwn(schema, "example") ? [schema["example"]] : []),
  ])
  return [...new Set(examples.slice(0, MAX_EXAMPLES).map((value) => jsonText(value)))]
}

/** A value as JSON in one line, cut at a readable length. */
function jsonText(value: unknown): string {
  const text = (JSON.stringify(value) as string | undefined) ?? "undefined"
  return text.length > MAX_JSON ? `${text.slice(0, MAX_JSON)}…` : text
}

/** The constraints of a value besides its type, in words. */
function constraintsOf(flat: Flat): readonly string[] {
  const limits = flat.layers.flatMap(({ schema }) => [...limitsOf(schema), ...objects(schema)])
  const required = flat.unions.flatMap((union) => requirementText(requirementsOf(union)))
  const lost = flat.lost.map((reference) => `${reference} is not part of this schema`)
  return [...new Set([...limits, ...required, ...lost])]
}

/** The range, length and content that one schema requires, in words. */
export function limitsOf(schema: JsonSchema): readonly string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, type } = schema
  const types = [type].flat()
  // A keyword of another type says nothing: documents have `uniqueItems` on strings.
  const isOf = (...names: readonly string[]): boolean =>
    type === undefined || names.some((name) => types.includes(name))
  const numbers = [
    ...range(bound(minimum), bound(maximum), String),
    ...phrase("more than", schema["exclusiveMinimum"], "number"),
    ...phrase("less than", schema["exclusiveMaximum"], "number"),
    ...phrase("a multiple of", schema["multipleOf"], "number"),
  ]
  const texts = [
    ...phrase("matches", schema["pattern"], "string"),
    ...phrase("encoded as", schema["contentEncoding"], "string"),
    ...phrase("holds", schema["contentMediaType"], "string"),
  ]
  const properties = [schema["minProperties"], schema["maxProperties"]] as const
  return [
    ...(isOf("number", "integer") ? numbers : []),
    ...(isOf("string") ? counts(minLength, maxLength, "character") : []),
    ...(isOf("array") ? counts(minItems, maxItems, "item") : []),
    ...(isOf("object") ? counts(...properties, "property", "properties") : []),
    ...(isOf("array") && schema["uniqueItems"] === true ? ["no duplicates"] : []),
    ...(isOf("string") ? texts : []),
  ]
}

function counts(least: unknown, most: unknown, one: string, many = `${one}s`): readonly string[] {
  // A minimum of 0 is no constraint.
  const write = (count: number): string => `${count} ${count === 1 ? one : many}`
  return range(least === 0 ? undefined : least, most, write)
}

/** The largest exact integers are limits of JavaScript, not of the described value. */
function bound(limit: unknown): unknown {
  return Math.abs(Number(limit)) === Number.MAX_SAFE_INTEGER ? undefined : limit
}

function range(least: unknown, most: unknown, write: (value: number) => string): readonly string[] {
  if (typeof least !== "number") return typeof most === "number" ? [`at most ${write(most)}`] : []
  if (typeof most !== "number") return [`at least ${write(least)}`]
  return [least === most ? `exactly ${write(most)}` : `${least} to ${write(most)}`]
}

function phrase(words: string, value: unknown, type: "number" | "string"): readonly string[] {
  return typeof value === type ? [`${words} ${String(value)}`] : []
}

function objects(schema: JsonSchema): readonly string[] {
  const { additionalProperties, unevaluatedProperties, dependentRequired } = schema
  const isClosed = additionalProperties === false || unevaluatedProperties === false
  const needs = isRecord(dependentRequired) ? Object.entries(dependentRequired) : []
  return [
    ...(isClosed ? ["no other properties"] : []),
    ...needs.map(([name, others]) => `${name} needs ${listOf(others).join(", ")}`),
  ]
}

/** The alternatives of a union whose members differ only in required names, in words. */
function requirementText(sets: readonly (readonly string[])[] | undefined): readonly string[] {
  if (sets === undefined) return []
  const named = sets.filter((names) => names.length > 0).map((names) => names.join(" and "))
  return named.length === 0 ? [] : [`needs ${named.join(", or ")}`]
}
