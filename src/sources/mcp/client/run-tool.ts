import { CallError, refusal } from "../../../core/errors.ts"
import { lightSignal } from "../../../internal/signals.ts"
import type { LazyOperation } from "../../../core/lazy-operation.ts"
import type { ResolvedServer } from "../config.ts"
import type { MCPToolDefinition } from "../../../mcp/model.ts"
import { toolEnvelope } from "../result.ts"
import type { ResponseEnvelope } from "../../../core/envelope.ts"
import { compileSchema } from "../../../schema/compiled.ts"
import type { CallOptions } from "../../../core/types.ts"
import type { MCPConnection, MCPRequestOptions, RequestCaller } from "./model.ts"
import { toolInput } from "./tool-input.ts"
import { systemClock } from "../../../internal/clock.ts"

/** The parts of a call that a tool needs; a handler's context has them. */
export type ToolCallContext = Pick<
  CallOptions,
  "signal" | "deadline" | "progress" | "requestInput" | "metadata" | "identity" | "requestId"
>

/** Runs tools of one server. */
export interface ToolHost {
  readonly server: ResolvedServer
  readonly connection: MCPConnection
  /** Throws for a tool that must not be run; may wait for a refresh first. */
  admit(tool: string, context: ToolCallContext): Promise<void> | void
}

/** One tool, ready to be run. */
export interface RunnableTool {
  readonly definition: MCPToolDefinition
  readonly operation: LazyOperation
}

const TRACE_KEYS = ["traceparent", "tracestate", "baggage"] as const

/**
 * Runs a tool and wraps its result.
 *
 * A failure that the tool reports is a result. Rejects with a `CallError` for an invalid input and for failures
 * of the server.
 */
export async function runTool(
  host: ToolHost,
  tool: RunnableTool,
  input: unknown,
  context: ToolCallContext,
): Promise<ResponseEnvelope> {
  const { server, connection } = host
  const { definition, operation } = tool
  const operationId = `${operation.namespace}.${operation.name}`
  const sent = toolInput(input, operationId)
  if (definition.execution?.taskSupport === "required") throw needsTasks(server.name, definition)
  const wait = host.admit(definition.name, context)
  if (wait !== undefined) await wait
  const started = systemClock.now()
  const result = await connection.callTool(definition, sent, {
    signal: lightSignal(context),
    get deadline() {
      return context.deadline
    },
    timeout: server.tools.get(definition.name)?.timeout,
    progress: context.progress,
    requestInput: context.requestInput,
    meta: traceOf(context.metadata),
    isRepeatable: isRepeatable(server, tool),
    caller: callerOf(context, operationId),
  })
  return toolEnvelope(result, {
    server: server.name,
    tool: definition,
    peer: connection.peer,
    durationMs: systemClock.now() - started,
    output: definition.outputSchema === undefined ? undefined : outputCheck(operation),
  })
}

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
function callerOf(
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
function traceOf(
  metadata: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (metadata === undefined) return undefined
  let trace: Record<string, unknown> | undefined
  for (const key of TRACE_KEYS) {
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined
    if (typeof value === "string" && value !== "") (trace ??= {})[key] = value
  }
  return trace
}

/** Only hints of trusted servers count; the operation's type, which the user can set, comes first. */
function isRepeatable(server: ResolvedServer, { definition, operation }: RunnableTool): boolean {
  if (operation.type === "query") return true
  return server.trust && definition.annotations?.idempotentHint === true
}

/** Compiles the schema on first use, which is rare: only to read a text as data. */
function outputCheck(operation: LazyOperation): { check(value: unknown): boolean } {
  return { check: (value) => compileSchema(operation.outputSchema).check(value) }
}

function needsTasks(server: string, { name }: MCPToolDefinition): CallError {
  return new CallError(
    "EXECUTION_ERROR",
    `Tool "${name}" of MCP server "${server}" was not called: it runs only as a task, and tasks are not supported. Use another tool of the server, or call it with a client that has the tasks extension.`,
    {
      details: { reason: "UNSUPPORTED", server, tool: name },
      retryable: false,
      mayHaveExecuted: false,
    },
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
