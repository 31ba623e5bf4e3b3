import { isPlainRecord, listOf } from "../json.ts"
import type { JsonSchema } from "../json.ts"
import type { Flat } from "./flatten.ts"
import { requirementsOf } from "./types.ts"

/** The constraints of a value besides its type, in words. */
export function constraintsOf(flat: Flat): readonly string[] {
  const found = flat.layers.flatMap(({ schema }) => [
    ...sizes(schema),
    ...numbers(schema),
    ...contents(schema),
    ...objects(schema),
  ])
  const required = flat.unions.flatMap((union) => requirementText(requirementsOf(union)))
  const lost = flat.lost.map((reference) => `${reference} is not part of this schema`)
  return [...new Set([...found, ...required, ...lost])]
}

function sizes(schema: JsonSchema): readonly string[] {
  const { minLength, maxLength, minItems, maxItems, minProperties, maxProperties } = schema
  return [
    ...range(minLength, maxLength, "character"),
    ...range(minItems, maxItems, "item"),
    ...range(minProperties, maxProperties, "property", "properties"),
    ...(schema["uniqueItems"] === true ? ["no item twice"] : []),
  ]
}

function range(least: unknown, most: unknown, one: string, many = `${one}s`): readonly string[] {
  const from = typeof least === "number" && least > 0 ? least : undefined
  const to = typeof most === "number" ? most : undefined
  const counted = (count: number): string => `${count} ${count === 1 ? one : many}`
  if (from !== undefined && from === to) return [`exactly ${counted(from)}`]
  if (from !== undefined && to !== undefined) return [`${from} to ${counted(to)}`]
  if (from !== undefined) return [`at least ${counted(from)}`]
  return to === undefined ? [] : [`at most ${counted(to)}`]
}

function numbers(schema: JsonSchema): readonly string[] {
  const bounds = [
    ["minimum", "≥"],
    ["exclusiveMinimum", ">"],
    ["maximum", "≤"],
    ["exclusiveMaximum", "<"],
    ["multipleOf", "a multiple of"],
  ] as const
  return bounds.flatMap(([keyword, sign]) => {
    const bound = schema[keyword]
    return typeof bound === "number" ? [`${sign} ${bound}`] : []
  })
}

function contents(schema: JsonSchema): readonly string[] {
  const { pattern, contentEncoding, contentMediaType } = schema
  return [
    ...(typeof pattern === "string" ? [`matches ${pattern}`] : []),
    ...(typeof contentEncoding === "string" ? [`encoded as ${contentEncoding}`] : []),
    ...(typeof contentMediaType === "string" ? [`holds ${contentMediaType}`] : []),
  ]
}

function objects(schema: JsonSchema): readonly string[] {
  const { additionalProperties, unevaluatedProperties, dependentRequired } = schema
  const isClosed = additionalProperties === false || unevaluatedProperties === false
  const needs = isPlainRecord(dependentRequired) ? Object.entries(dependentRequired) : []
  return [
    ...(isClosed ? ["no other properties"] : []),
    ...needs.map(([name, others]) => `${name} needs ${listOf(others).join(", ")}`),
  ]
}

/** Members that share everything but the names that must be given. */
function requirementText(sets: readonly (readonly string[])[] | undefined): readonly string[] {
  if (sets === undefined) return []
  const named = sets.filter((names) => names.length > 0).map((names) => names.join(" and "))
  return named.length === 0 ? [] : [`needs ${named.join(", or ")}`]
}
