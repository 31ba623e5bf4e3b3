import { CallError } from "../core/errors.ts"
import { parseExact } from "../http-client/exact-json.ts"
import { nearest } from "../internal/suggest.ts"
import type { JsonObject, MCPToolDefinition } from "../mcp/model.ts"
import type { AnyRegistry } from "../engine/registry.ts"
import { isRecord } from "../internal/guards.ts"
import { viewOf } from "../schema/read/view.ts"
import { reasonOf, typeName } from "../internal/message-text.ts"
import { invalid, validateOrThrow } from "../core/validation.ts"
import { indexInSlices } from "../engine/search-index.ts"
import { argumentsOf, runOperation } from "./calls.ts"
import { describeSchemas, describeTypes, headOf, briefText } from "./describe.ts"
import { errorText } from "./tool-errors.ts"
import type { Listing } from "./listing.ts"
import type { SurfaceCall, SurfaceResult } from "./model.ts"
import type { ResolvedSurfaceOptions } from "./options.ts"
import { READ_RESULT, readResult } from "./fit-result.ts"
import type { OperationTool } from "./tool.ts"
import { SELECT_SCHEMA } from "./select-form.ts"

/** Dependencies of the search tools. */
export interface SearchGround {
  readonly registry: AnyRegistry
  readonly listing: Listing
  readonly options: ResolvedSurfaceOptions
}

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 50
const MAX_DESCRIPTION = 300
/** Maximum characters of an unknown id that is searched for, and number of suggested ids. */
const MAX_GUESSED = 128
const MAX_GUESSES = 3

const READ_ONLY = {
  readOnlyHint: true,
  openWorldHint: false,
} as const

/** The search tools. Their bytes must not change: they are part of cached prompts. */
export const SEARCH_TOOLS: readonly MCPToolDefinition[] = [
  {
    name: "search_operations",
    title: "Search operations",
    description:
      "Step 1 of 3. Finds operations by what they do. Returns their ids, descriptions and input names.",
    inputSchema: {
      type: "object",
      properties: {
        query: {
          type: "string",
          description:
            "What to look for, in a few words. An empty query lists all operations by id.",
        },
        limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
        namespace: { type: "string", description: "Search only this namespace." },
      },
      required: ["query"],
      additionalProperties: false,
    },
    annotations: READ_ONLY,
  },
  {
    name: "describe_operation",
    title: "Describe an operation",
    description:
      "Step 2 of 3. Returns the input, output and errors of one operation as TypeScript declarations. Read it before you call the operation.",
    inputSchema: {
      type: "object",
      properties: {
        id: { type: "string", description: "Operation id, such as task.create." },
        path: {
          type: "string",
          description:
            'Only this part of the input, such as "/body/spec/template", where a description was abridged.',
        },
        format: {
          type: "string",
          enum: ["types", "schema"],
          default: "types",
          description: '"schema" returns the complete JSON Schemas, which can be long.',
        },
      },
      required: ["id"],
      additionalProperties: false,
    },
    annotations: READ_ONLY,
  },
  {
    name: "call_operation",
    title: "Call an operation",
    description:
      "Step 3 of 3. Runs one operation and returns its result. A subscription collects items until limit or timeoutMs is reached.",
    inputSchema: {
      type: "object",
      properties: {
        id: { type: "string", description: "Operation id, such as task.create." },
        input: {
          type: "object",
          description:
            "Input of the operation, as described by describe_operation. JSON text of the object is accepted, too.",
        },
        select: SELECT_SCHEMA,
        limit: {
          type: "integer",
          minimum: 1,
          description: "Subscriptions: maximum number of items.",
        },
        timeoutMs: {
          type: "integer",
          minimum: 1,
          description: "Subscriptions: maximum time to wait, in milliseconds.",
        },
      },
      required: ["id"],
      additionalProperties: false,
    },
    // It can call any operation.
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
  },
  READ_RESULT,
]

/** Instructions for the three search tools. */
export const SEARCH_FIRST =
  "To use an operation: 1. search_operations finds operations and their ids. 2. describe_operation returns the input, output and errors of one. 3. call_operation runs it. Do not guess ids or inputs."

export function searchTool(name: string): MCPToolDefinition | undefined {
  return SEARCH_TOOLS.find((tool) => tool.name === name)
}

/** Answers a call of a search tool. */
export async function callSearchTool(
  name: string,
  rawArguments: unknown,
  call: SurfaceCall,
  ground: SearchGround,
): Promise<SurfaceResult> {
  let input: JsonObject
  let tool: OperationTool | undefined
  try {
    input = readInput(argumentsOf(rawArguments, name), name)
    validateOrThrow(searchTool(name)?.inputSchema, input, `Input for "${name}"`)
    if (name === READ_RESULT.name) return readResult(input, call, ground.options)
    if (name === "search_operations") return answer(await search(input, call, ground))
    tool = operationFor(String(input["id"]), call, ground)
    if (name === "describe_operation") {
      const isFull = input["format"] === "schema"
      return answer(
        isFull
          ? describeSchemas(tool, call.era, ground.listing)
          : await describeTypes(tool, call.era, input["path"] as string | undefined),
      )
    }
  } catch (error) {
    return errorText(error, "")
  }
  const args = withBounds(tool, input)
  const called = { place: "/input", select: input["select"], isSearched: true }
  return await runOperation(ground.registry, tool, args, call, ground.options, called)
}

async function search(
  input: JsonObject,
  { identity }: SurfaceCall,
  { registry, listing }: SearchGround,
): Promise<{ readonly operations: readonly unknown[] }> {
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
  let tools: readonly OperationTool[] = []
  if (query.trim() === "") tools = listing.visibleTo(identity).filter(isWanted)
  else {
    await indexInSlices(registry)
    // Some results may be hidden, so we search again with a higher limit until there are enough.
    for (let asked = limit; ; asked *= 8) {
      const options = { identity, limit: asked, ...(namespace !== undefined && { namespace }) }
      const results = registry.search(query, options)
      tools = results.flatMap(({ id }) => listing.withId(id, identity) ?? [])
      if (tools.length >= limit || results.length < asked) break
    }
  }
  return { operations: tools.slice(0, limit).map(entryOf) }
}

function entryOf(tool: OperationTool): JsonObject {
  return {
    ...headOf(tool),
    description: briefText(tool.description, MAX_DESCRIPTION),
    inputs: inputsOf(tool.form.schema),
  }
}

/** Names of inputs; optional ones end in a question mark. */
function inputsOf(schema: unknown): readonly string[] {
  const { names, required } = viewOf(schema)
  return names.map((name) => (required.includes(name) ? name : `${name}?`))
}

/**
 * Reads the arguments. Some models write null for what they leave out, and the input as JSON text. Throws
 * `VALIDATION_ERROR` for text that is not a JSON object.
 */
function readInput(given: JsonObject, name: string): JsonObject {
  const args = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
  const { input } = args
  if (name !== "call_operation" || typeof input !== "string") return args
  const what = `Input for "${name}"`
  let value: unknown
  try {
    value = input.trim() === "" ? {} : parseExact(input)
  } catch (error) {
    const message = `is text that is not valid JSON (${reasonOf(error)}); send an object`
    throw invalid("VALIDATION_ERROR", what, [{ path: "/input", message }])
  }
  if (isRecord(value)) return { ...args, input: value }
  const message = `must be an object or its JSON text, got JSON text of ${typeName(value)}`
  throw invalid("VALIDATION_ERROR", what, [{ path: "/input", message }])
}

/** Finds an operation. The error is the same for an unknown id and for one that the caller may not call. */
function operationFor(id: string, call: SurfaceCall, ground: SearchGround): OperationTool {
  const { listing } = ground
  const tool = listing.withId(id, call.identity) ?? listing.named(id, call.identity)
  if (tool !== undefined) return tool
  const close = closeIds(id, call, ground).map((one) => `"${one}"`)
  const hint = close.length === 0 ? "" : ` Did you mean ${close.join(" or ")}?`
  throw new CallError(
    "OPERATION_NOT_FOUND",
    `There is no operation "${id.slice(0, 200)}".${hint} Find one with search_operations.`,
  )
}

/** Suggests ids for a wrong one, among those that the caller may call: by spelling, or by the same words. */
function closeIds(
  id: string,
  { identity }: SurfaceCall,
  { registry, listing }: SearchGround,
): readonly string[] {
  const visible = listing.visibleTo(identity)
  const dot = id.indexOf(".") + 1
  const siblings = visible.filter((tool) => tool.id.startsWith(id.slice(0, dot)))
  const ids = (siblings.length > 0 ? siblings : visible).map((tool) => tool.id)
  const meant = nearest(id, ids)
  if (meant !== undefined) return [meant]
  if (id.length > MAX_GUESSED) return []
  return registry
    .search(id, { identity, limit: MAX_GUESSES })
    .flatMap((hit) => (listing.withId(hit.id, identity) === undefined ? [] : [hit.id]))
}

function withBounds(tool: OperationTool, args: JsonObject): unknown {
  const { input = {}, limit, timeoutMs } = args
  if (!tool.isStream || !isRecord(input)) return input
  const { limitName, timeoutName } = tool.stream
  return {
    ...(limit !== undefined && { [limitName]: limit }),
    ...(timeoutMs !== undefined && { [timeoutName]: timeoutMs }),
    ...input,
  }
}

function answer(value: JsonObject): SurfaceResult {
  const text = JSON.stringify(value)
  return { content: [{ type: "text", text }], structuredContent: JSON.parse(text) as unknown }
}
