import type { JsonSchema } from "../../schema/json.ts"
import { mapSchemas } from "../../schema/read/plain-schema.ts"
import { visibleText } from "./visible-text.ts"

/** Maximum characters of a comment on one property. */
const MAX_COMMENT = 200
const MAX_PATTERN = 60

/** A Markdown link or image: its text, then its address, which may hold one level of brackets. */
const LINK = /!?\[([^[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/g

/** A text for a model: without hidden characters, links as their text. */
export function plainText(text: string): string {
  return visibleText(text).replaceAll(LINK, "$1")
}

/** Plain text on one line, cut to `most` characters. */
export function briefText(text: string, most: number): string {
  // Cut before it is searched: a description can have megabytes.
  const line = plainText(text.slice(0, most * 8))
    .replaceAll(/\s+/g, " ")
    .trim()
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}…` : line
}

/** A schema with short descriptions that include what types cannot express: ranges, lengths, formats. */
export function commentedSchema(schema: JsonSchema): JsonSchema {
  return mapSchemas(schema, (node) => {
    const { title: _, description, ...rest } = node
    const words = typeof description === "string" ? briefText(description, MAX_COMMENT) : ""
    const limits = limitsOf(node)
    const comment = limits === "" ? words : `${words} (${limits})`.trim()
    return comment === "" ? rest : { ...rest, description: comment }
  })
}

/** The constraints of a schema beyond its type, in a few words. */
function limitsOf(schema: JsonSchema): string {
  const { type, format, pattern, uniqueItems } = schema
  const limits = [
    type === "integer" ? "integer" : "",
    range(schema, "minimum", "maximum", ""),
    bound(schema, "exclusiveMinimum", "more than"),
    bound(schema, "exclusiveMaximum", "less than"),
    range(schema, "minLength", "maxLength", "character"),
    range(schema, "minItems", "maxItems", "item"),
    uniqueItems === true ? "no duplicates" : "",
    typeof format === "string" && !/^(?:u?int|float|double)\d*$/.test(format)
      ? briefText(format, MAX_PATTERN)
      : "",
    typeof pattern === "string" && pattern.length <= MAX_PATTERN
      ? `matches ${briefText(pattern, MAX_PATTERN)}`
      : "",
  ]
  return limits.filter((one) => one !== "").join(", ")
}

function range(schema: JsonSchema, low: string, high: string, unit: string): string {
  const least = schema[low]
  const most = schema[high]
  const counted = (value: number): string =>
    unit === "" ? String(value) : `${value} ${unit}${value === 1 ? "" : "s"}`
  // A minimum length of 0 is no constraint.
  const hasLeast = typeof least === "number" && !(unit !== "" && least === 0)
  if (hasLeast && typeof most === "number") return `${least} to ${counted(most)}`
  if (hasLeast) return `at least ${counted(least)}`
  return typeof most === "number" ? `at most ${counted(most)}` : ""
}

function bound(schema: JsonSchema, keyword: string, words: string): string {
  const value = schema[keyword]
  return typeof value === "number" ? `${words} ${value}` : ""
}
