import type { JsonSchema } from "../../schema/json.ts"
import { limitsOf } from "../../schema/read/facts.ts"
import { mapSchemas } from "../../schema/read/plain-schema.ts"
import { withoutHiddenText } from "../../mcp/hidden-text.ts"

/** Maximum characters of a comment on one property. */
const MAX_COMMENT = 200
const MAX_PATTERN = 60
/** Maximum characters of one constraint in it. */
const MAX_LIMIT = 80

/** A Markdown link or image: its text, then its address, which may hold one level of brackets. */
const LINK = /!?\[([^[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/g

/** A text for a model: without hidden characters, links as their text. */
export function plainText(text: string): string {
  return withoutHiddenText(text).replaceAll(LINK, "$1")
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
    const limits = commentOn(node)
    const comment = limits === "" ? words : `${words} (${limits})`.trim()
    return comment === "" ? rest : { ...rest, description: comment }
  })
}

/** What a schema asks for beyond its type, in a few words. */
function commentOn(schema: JsonSchema): string {
  const { type, format, pattern, ...rest } = schema
  const isShort = typeof pattern === "string" && pattern.length <= MAX_PATTERN
  const isShown = typeof format === "string" && !/^(?:u?int|float|double)\d*$/.test(format)
  const words = [
    ...(type === "integer" ? ["integer"] : []),
    ...limitsOf(isShort ? { ...rest, pattern } : rest),
    ...(isShown ? [format] : []),
  ]
  return words.map((text) => briefText(text, MAX_LIMIT)).join(", ")
}
