import { isImportedSpec } from "../core/define.ts"
import { withoutHiddenText } from "../mcp/hidden-text.ts"
import type { JsonObject, MCPEra } from "../mcp/model.ts"
import type { JsonSchema } from "../schema/json.ts"
import { invalid } from "../core/validation.ts"
import { isRecord } from "../internal/guards.ts"
import { pointerTokens } from "../schema/json.ts"
import { limitsOf } from "../schema/read/facts.ts"
import type { Listing } from "./listing.ts"
import { annotationsOf, visibleTitle, type OperationTool } from "./tool.ts"
import { mapSchemas } from "../schema/keywords.ts"

/** Maximum characters of a description, of the description of an error, and of all examples as JSON. */
const MAX_DESCRIPTION = 1000
const MAX_ERROR = 200
const MAX_EXAMPLES = 1000

const ABRIDGED = `Abridged. For one part of the input, call describe_operation with its path, such as path: "/body/spec". format: "schema" gives the complete JSON Schemas, which can be long.`

/**
 * Describes an operation for a model: its types as TypeScript declarations of a few kilobytes, or those of the part of
 * its input at a path. Throws a `CallError`.
 */
export async function describeTypes(
  tool: OperationTool,
  era: MCPEra,
  path?: string,
): Promise<JsonObject> {
  // Loaded on use: few servers print types.
  const { operationTypes } = await import("../typegen/operation-types.ts")
  const { spec } = tool
  const schemas = {
    input: commentedSchema(tool.form.schema),
    output: outputOf(tool, era),
    errors: (spec.errorSchemas ?? []).map(({ code, description, schema }) => ({
      code,
      description: briefText(description ?? "", MAX_ERROR),
      schema,
    })),
    // Imported operations leave defaults to their server.
    fillsDefaults: !isImportedSpec(spec),
  }
  if (path !== undefined && path !== "" && path !== "/") {
    try {
      // Paths of "select" have dots.
      const names = path.startsWith("/") ? pointerTokens(path) : path.split(/[./]/)
      const part = operationTypes(schemas, names ?? [path])
      return { id: tool.id, path, types: part.text, ...(part.isAbridged && { note: ABRIDGED }) }
    } catch (error) {
      const { PartError } = await import("../typegen/type-part.ts")
      if (!(error instanceof PartError)) throw error
      const issues = [{ path: "/path", message: error.message }]
      throw invalid("VALIDATION_ERROR", 'Input for "describe_operation"', issues)
    }
  }
  const { text, isAbridged } = operationTypes(schemas)
  const words = plainText(tool.description)
  return {
    ...headOf(tool),
    description: words.length > MAX_DESCRIPTION ? `${words.slice(0, MAX_DESCRIPTION - 1)}…` : words,
    annotations: visibleTitle(tool.raw?.annotations ?? annotationsOf(spec)),
    types: text,
    ...examplesOf(tool, MAX_EXAMPLES),
    ...(isAbridged && { note: ABRIDGED }),
  }
}

/** Describes an operation with its complete schemas. */
export function describeSchemas(tool: OperationTool, era: MCPEra, listing: Listing): JsonObject {
  const { name: _, ...definition } = listing.define(tool, era)
  const { errorSchemas = [], type } = tool.spec
  return {
    id: tool.id,
    type,
    ...definition,
    ...(errorSchemas.length > 0 && {
      errors: errorSchemas.map(({ code, description }) => ({ code, description })),
    }),
    ...examplesOf(tool, Number.POSITIVE_INFINITY),
  }
}

/** Id and title of an operation, here and in search results. */
export function headOf({ id, spec }: OperationTool): JsonObject {
  const { title, type } = spec
  return { id, type, ...(title !== undefined && { title: briefText(title, MAX_ERROR) }) }
}

/** The output schema, also when it is too long for a list. */
function outputOf(tool: OperationTool, era: MCPEra): unknown {
  const listed = tool.output(era)?.schema
  return listed ?? (tool.raw === undefined ? tool.spec.outputSchema : tool.raw.outputSchema)
}

function examplesOf(
  { spec: { examples = [] } }: OperationTool,
  most: number,
): { readonly examples?: readonly unknown[] } {
  const isShown = examples.length > 0 && JSON.stringify(examples).length <= most
  return isShown ? { examples } : {}
}

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
function commentedSchema(schema: JsonSchema): JsonSchema {
  return mapSchemas(schema, (node) => {
    const { title: _, description, ...rest } = withoutReadOnly(node)
    const words = typeof description === "string" ? briefText(description, MAX_COMMENT) : ""
    const limits = commentOn(node)
    const comment = limits === "" ? words : `${words} (${limits})`.trim()
    return comment === "" ? rest : { ...rest, description: comment }
  })
}

/** A schema without the members that only the server sets. Required ones stay: a call is refused without them. */
function withoutReadOnly(schema: JsonSchema): JsonSchema {
  const { properties, required } = schema
  if (!isRecord(properties)) return schema
  const kept = Object.entries(properties).filter(
    ([key, one]) =>
      !(isRecord(one) && one["readOnly"] === true) ||
      (Array.isArray(required) && required.includes(key)),
  )
  return { ...schema, properties: Object.fromEntries(kept) }
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
