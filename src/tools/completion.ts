// Completion of the arguments of prompts, and of the variables of resource templates.

import { CallError } from "../core/errors.ts"
import { idOf } from "../core/define.ts"
import type { CallOptions, OperationSpec } from "../core/types.ts"
import type { ServedRegistry } from "../engine/served-registry.ts"
import { isRecord } from "../internal/guards.ts"
import type { JsonObject } from "../mcp/model.ts"
import { originOf } from "../mcp/served-as.ts"
import { upstreamOf } from "../mcp/upstream.ts"
import { getOwn } from "../schema/json.ts"
import { viewOf } from "../schema/read/view.ts"

/** An argument that is typed. */
export interface CompletedArgument {
  readonly argument: { readonly name: string; readonly value: string }
  /** `{ arguments }`: the others. */
  readonly context: JsonObject | undefined
}

/** The result of a completion: `values`, and how many there are. */
export interface Completion {
  readonly completion: JsonObject
}

/** Values in one result, as the protocol limits them. */
const MAX_VALUES = 100

/** The values that begin with a text: of its server, of the operation that completes it, or of its schema. */
export async function completionOf(
  registry: Pick<ServedRegistry, "execute">,
  spec: OperationSpec,
  { argument, context }: CompletedArgument,
  options: CallOptions,
): Promise<Completion> {
  const operationId = idOf(spec)
  const { kind, definition } = originOf(spec) ?? {}
  if (isRecord(definition)) {
    const upstream = upstreamOf(spec)
    if (upstream === undefined) return none
    const { name, uri, uriTemplate } = definition
    const ref =
      kind === "prompt"
        ? { type: "ref/prompt", name }
        : { type: "ref/resource", uri: uriTemplate ?? uri }
    const params = { ref, argument, ...(context !== undefined && { context }) }
    try {
      const { completion } = await upstream.complete(params, { ...options, operationId })
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
      `"${id}", which completes "${name}" of "${operationId}", did not return a list of texts.`,
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
