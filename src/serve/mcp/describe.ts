import type { MCPEra } from "../../mcp/model.ts"
import { annotationsOf } from "./annotations.ts"
import type { Listing } from "./listing.ts"
import { briefText, commentedSchema, plainText } from "./plain-text.ts"
import { visibleTitle } from "./tool.ts"
import type { OperationTool } from "./tool.ts"

/** Maximum characters of a description, of the description of an error, and of all examples as JSON. */
const MAX_DESCRIPTION = 2000
const MAX_ERROR = 200
const MAX_EXAMPLES = 2000

const ABRIDGED = `Abridged: describe_operation with format "schema" gives the complete JSON Schemas.`

/** Describes an operation for a model: its types as TypeScript declarations of a few kilobytes. */
export async function describeTypes(
  tool: OperationTool,
  era: MCPEra,
): Promise<Readonly<Record<string, unknown>>> {
  // Loaded on use: few servers print types.
  const { operationTypes } = await import("../../typegen/operation-types.ts")
  const { spec } = tool
  const { text, isAbridged } = operationTypes({
    input: commentedSchema(tool.form.schema),
    output: outputOf(tool, era),
    errors: (spec.errorSchemas ?? []).map(({ code, description, schema }) => ({
      code,
      description: briefText(description ?? "", MAX_ERROR),
      schema,
    })),
    // Imported operations leave defaults to their server.
    fillsDefaults: spec._meta?.["openapi"] === undefined && spec._meta?.["mcp"] === undefined,
  })
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
export function describeSchemas(
  tool: OperationTool,
  era: MCPEra,
  listing: Listing,
): Readonly<Record<string, unknown>> {
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
export function headOf({ id, spec }: OperationTool): Readonly<Record<string, unknown>> {
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
