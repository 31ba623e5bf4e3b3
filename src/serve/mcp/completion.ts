import { CallError } from "../../core/errors.ts"
import type { CallOptions } from "../../core/types.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import { isRecord } from "../../internal/guards.ts"
import { INVALID_PARAMS } from "../../mcp/errors.ts"
import type { JsonObject } from "../../mcp/model.ts"
import { upstreamOf } from "../../mcp/upstream.ts"
import { getOwn } from "../../schema/json.ts"
import { viewOf } from "../../schema/read/view.ts"
import { ProtocolError } from "../../tools/model.ts"
import type { OperationTool } from "../../tools/tool.ts"
import { rawNameOf } from "./catalog.ts"

/** A valid request for completion. */
export interface CompletionRequest {
  readonly type: "ref/prompt" | "ref/resource"
  /** The name of the prompt, or the address of the resource. */
  readonly subject: string
  readonly argument: { readonly name: string; readonly value: string }
  readonly context: JsonObject | undefined
}

/** The result of a completion. */
export interface Completion {
  readonly completion: JsonObject
}

/** Values in one result, as the protocol limits them. */
const MAX_VALUES = 100

/** Reads the parameters of `completion/complete`. Throws a `ProtocolError`. */
export function readCompletion(params: JsonObject | undefined): CompletionRequest {
  const { ref, argument, context } = params ?? {}
  const { type, name, uri } = isRecord(ref) ? ref : {}
  const subject = type === "ref/prompt" ? name : uri
  const isRef = (type === "ref/prompt" || type === "ref/resource") && typeof subject === "string"
  const { name: key, value } = isRecord(argument) ? argument : {}
  if (isRef && typeof key === "string" && typeof value === "string") {
    return {
      type,
      subject,
      argument: { name: key, value },
      context: isRecord(context) ? context : undefined,
    }
  }
  throw new ProtocolError(
    INVALID_PARAMS,
    "completion/complete needs params.ref, of a prompt or a resource, and params.argument with name and value.",
  )
}

/** The values that begin with a text: of its server, of the operation that completes it, or of its schema. */
export async function completionOf(
  tool: OperationTool,
  { type, subject, argument, context }: CompletionRequest,
  options: CallOptions,
  registry: AnyRegistry,
): Promise<Completion> {
  const { spec } = tool
  if (tool.origin?.definition !== undefined) {
    const upstream = upstreamOf(spec)
    if (upstream === undefined) return none
    const ref = type === "ref/prompt" ? { type, name: rawNameOf(tool) } : { type, uri: subject }
    const params = { ref, argument, ...(context !== undefined && { context }) }
    try {
      const { completion } = await upstream.complete(params, { ...options, operationId: tool.id })
      return isRecord(completion) ? { completion } : none
    } catch (error) {
      // The server completes nothing.
      const code = isRecord(error) && isRecord(error["details"]) ? error["details"]["code"] : 0
      if (code === -32601) return none
      throw error
    }
  }
  const { name, value } = argument
  const id = getOwn(spec.mcp?.complete ?? {}, name)
  if (typeof id === "string") {
    const others = context?.["arguments"]
    const input = { value, arguments: isRecord(others) ? others : {} }
    const { data } = await registry.execute(id, input, options)
    if (Array.isArray(data) && data.every((one) => typeof one === "string")) return listed(data)
    throw new CallError(
      "OUTPUT_VALIDATION_ERROR",
      `"${id}", which completes "${name}" of "${tool.id}", did not return a list of texts.`,
    )
  }
  const values = viewOf(spec.inputSchema).declared(name)?.values ?? []
  const begin = value.toLowerCase()
  return listed(values.map(String).filter((one) => one.toLowerCase().startsWith(begin)))
}

const none: Completion = { completion: { values: [] } }

function listed(all: readonly string[]): Completion {
  const values = all.slice(0, MAX_VALUES)
  return { completion: { values, total: all.length, hasMore: all.length > values.length } }
}
