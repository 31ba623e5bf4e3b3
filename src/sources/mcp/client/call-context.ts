import { CallError, refusal } from "../../../core/errors.ts"
import type { JsonObject, MCPToolDefinition } from "../../../mcp/model.ts"
import type { CallOptions } from "../../../core/types.ts"
import type { MCPRequestOptions, RequestCaller } from "./model.ts"

/** The parts of a call that a tool needs; a handler's context has them. */
export type ToolCallContext = Pick<
  CallOptions,
  "signal" | "deadline" | "progress" | "requestInput" | "metadata" | "identity" | "requestId"
>

const TRACE_KEYS = ["traceparent", "tracestate", "baggage"] as const

/** The request options of a call that only reads: the request has no effect, so it may be repeated. */
export function readOptions(
  context: ToolCallContext,
  operationId: string | undefined,
): MCPRequestOptions {
  const { signal, deadline, progress, requestInput, metadata } = context
  const meta = traceOf(metadata)
  const caller = callerOf(context, operationId)
  return { signal, deadline, progress, requestInput, meta, caller, isRepeatable: true }
}

/** The caller of a request; its members are read only if they are needed. */
export function callerOf(
  context: Pick<ToolCallContext, "identity" | "requestId">,
  operationId: string | undefined,
): RequestCaller {
  return {
    operationId,
    get identity() {
      return context.identity
    },
    get requestId() {
      return context.requestId
    },
  }
}

/** The caller's trace context, to be passed on. */
export function traceOf(metadata: JsonObject | undefined): JsonObject | undefined {
  if (metadata === undefined) return undefined
  let trace: Record<string, unknown> | undefined
  for (const key of TRACE_KEYS) {
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined
    if (typeof value === "string" && value !== "") (trace ??= {})[key] = value
  }
  return trace
}

/** The error for a tool that runs only as a task. */
export function needsTasks(server: string, { name }: MCPToolDefinition): CallError {
  const details = { reason: "UNSUPPORTED", server, tool: name }
  return new CallError(
    "EXECUTION_ERROR",
    `Tool "${name}" of MCP server "${server}" was not called: it runs only as a task, and tasks are not supported. Use another tool of the server, or call it with a client that has the tasks extension.`,
    { details, retryable: false, mayHaveExecuted: false },
  )
}

/** The error for a tool that its server does not have. */
export function unknownTool(server: string, name: string, tools: readonly string[]): CallError {
  const some = tools.slice(0, 10).map((tool) => `"${tool}"`)
  const rest = tools.length > some.length ? ` and ${tools.length - some.length} more` : ""
  return refusal(
    "OPERATION_NOT_FOUND",
    `MCP server "${server}" has no tool "${name.slice(0, 200)}". It has ${some.join(", ") || "none"}${rest}.`,
    { details: { server, tool: name.slice(0, 200) } },
  )
}
