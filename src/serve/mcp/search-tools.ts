import { CallError } from "../../errors.ts"
import type { MCPToolDefinition } from "../../mcp/model.ts"
import type { AnyRegistry } from "../../registry.ts"
import { isPlainRecord } from "../../schema/json.ts"
import { validateOrThrow } from "../../validation.ts"
import { argumentsOf, callTool } from "./calls.ts"
import { errorText } from "./faults.ts"
import type { Listing } from "./listing.ts"
import type { SurfaceCall, SurfaceResult } from "./model.ts"
import type { SettledOptions } from "./options.ts"
import type { OperationTool } from "./tool.ts"
import { visibleText } from "./visible-text.ts"

/** What the tools that search work on. */
export interface SearchGround {
  readonly registry: AnyRegistry
  readonly listing: Listing
  readonly options: SettledOptions
}

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 50
const MAX_DESCRIPTION = 300

const reading = {
  readOnlyHint: true,
  openWorldHint: false,
} as const

/** The three tools that stand for all operations. Their bytes never change: prompts are cached by them. */
export const SEARCH_TOOLS: readonly MCPToolDefinition[] = [
  {
    name: "search_operations",
    title: "Search operations",
    description:
      "Finds operations by what they do. Gives ids, descriptions and names of inputs; describe_operation has the details of one, call_operation runs it.",
    inputSchema: {
      type: "object",
      properties: {
        query: {
          type: "string",
          description: "What to look for, in a few words. Empty lists everything in order.",
        },
        limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
        namespace: { type: "string", description: "Only in this namespace." },
      },
      required: ["query"],
      additionalProperties: false,
    },
    annotations: reading,
  },
  {
    name: "describe_operation",
    title: "Describe an operation",
    description: "Gives the schemas and the errors of one operation. Read it before you call it.",
    inputSchema: {
      type: "object",
      properties: { id: { type: "string", description: "Such as task.create." } },
      required: ["id"],
      additionalProperties: false,
    },
    annotations: reading,
  },
  {
    name: "call_operation",
    title: "Call an operation",
    description:
      "Runs one operation. Its input is what describe_operation gives as inputSchema. Operations that give a stream collect items until limit or timeoutMs.",
    inputSchema: {
      type: "object",
      properties: {
        id: { type: "string", description: "Such as task.create." },
        input: { type: "object", description: "The input of the operation." },
        limit: { type: "integer", minimum: 1, description: "Of streams: the most items." },
        timeoutMs: { type: "integer", minimum: 1, description: "Of streams: the longest wait." },
      },
      required: ["id"],
      additionalProperties: false,
    },
    // It can be any operation.
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
  },
]

export function searchTool(name: string): MCPToolDefinition | undefined {
  return SEARCH_TOOLS.find((tool) => tool.name === name)
}

/** Answers a call of one of the three. */
export async function callSearchTool(
  name: string,
  given: unknown,
  call: SurfaceCall,
  ground: SearchGround,
): Promise<SurfaceResult> {
  let input: Readonly<Record<string, unknown>>
  let tool: OperationTool | undefined
  try {
    input = argumentsOf(given, name)
    validateOrThrow(searchTool(name)?.inputSchema, input, `Input for "${name}"`)
    if (name === "search_operations") return answer(search(input, call, ground))
    tool = operationFor(String(input["id"]), call, ground.listing)
    if (name === "describe_operation") return answer(describe(tool, call, ground.listing))
  } catch (error) {
    return errorText(error, "")
  }
  const args = withBounds(tool, input)
  return await callTool(ground.registry, tool, args, call, ground.options, "/input")
}

function search(
  input: Readonly<Record<string, unknown>>,
  { identity }: SurfaceCall,
  { registry, listing }: SearchGround,
): { readonly operations: readonly unknown[] } {
  const {
    query,
    limit = DEFAULT_LIMIT,
    namespace,
  } = input as {
    query: string
    limit?: number
    namespace?: string
  }
  const isWanted = (tool: OperationTool): boolean =>
    namespace === undefined || tool.spec.namespace === namespace
  let found: readonly OperationTool[] = []
  if (query.trim() === "") found = listing.visibleTo(identity).filter(isWanted)
  else {
    // Some that are found are not shown here; asked for more until there are enough.
    for (let asked = limit; ; asked *= 8) {
      const options = { identity, limit: asked, ...(namespace !== undefined && { namespace }) }
      const results = registry.search(query, options)
      found = results.flatMap(({ id }) => listing.withId(id, identity) ?? [])
      if (found.length >= limit || results.length < asked) break
    }
  }
  return { operations: found.slice(0, limit).map(entryOf) }
}

/** Not from the whole definition: its schema of results may be large, and is not shown here. */
function entryOf(tool: OperationTool): Readonly<Record<string, unknown>> {
  const { title } = tool.spec
  const description = tool.description
  return {
    id: tool.id,
    type: tool.spec.type,
    ...(title !== undefined && { title: visibleText(title) }),
    description:
      description.length > MAX_DESCRIPTION
        ? `${description.slice(0, MAX_DESCRIPTION - 1)}…`
        : description,
    inputs: inputsOf(tool.form.schema),
  }
}

/** Names of inputs; those that may be left out end in a question mark. */
function inputsOf(schema: unknown): readonly string[] {
  if (!isPlainRecord(schema) || !isPlainRecord(schema["properties"])) return []
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  return Object.keys(schema["properties"]).map((name) =>
    required.includes(name) ? name : `${name}?`,
  )
}

function describe(
  tool: OperationTool,
  { era }: SurfaceCall,
  listing: Listing,
): Readonly<Record<string, unknown>> {
  const { name: _, ...definition } = listing.define(tool, era)
  const { errorSchemas = [], examples, type } = tool.spec
  return {
    id: tool.id,
    type,
    ...definition,
    ...(errorSchemas.length > 0 && {
      errors: errorSchemas.map(({ code, description }) => ({ code, description })),
    }),
    ...(examples !== undefined && examples.length > 0 && { examples }),
  }
}

/** The same words for what is not there and for what the caller may not use. */
function operationFor(id: string, { identity }: SurfaceCall, listing: Listing): OperationTool {
  const tool = listing.withId(id, identity) ?? listing.named(id, identity)
  if (tool !== undefined) return tool
  throw new CallError(
    "OPERATION_NOT_FOUND",
    `There is no operation "${id.slice(0, 200)}". Find one with search_operations.`,
  )
}

function withBounds(tool: OperationTool, given: Readonly<Record<string, unknown>>): unknown {
  const { input = {}, limit, timeoutMs } = given
  if (!tool.isStream || !isPlainRecord(input)) return input
  const { limitName, timeoutName } = tool.stream
  return {
    ...(limit !== undefined && { [limitName]: limit }),
    ...(timeoutMs !== undefined && { [timeoutName]: timeoutMs }),
    ...input,
  }
}

function answer(value: Readonly<Record<string, unknown>>): SurfaceResult {
  const text = JSON.stringify(value)
  return { content: [{ type: "text", text }], structuredContent: JSON.parse(text) as unknown }
}
