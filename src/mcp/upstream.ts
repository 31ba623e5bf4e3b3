// What an MCP server offers for its resources and prompts beyond the operations that are made of them.

import type { CallOptions, OperationSpec } from "../core/types.ts"
import { isRecord } from "../internal/guards.ts"
import type { JsonObject } from "./model.ts"

/** Who wants a completion, and for which operation. */
export interface CompletionContext extends Pick<CallOptions, "signal" | "identity" | "metadata"> {
  readonly operationId: string
}

/** The server of an imported resource or prompt. */
export interface MCPUpstream {
  /** Completes an argument: the parameters and the result of `completion/complete`. */
  complete(params: JsonObject, context: CompletionContext): Promise<JsonObject>
  /** Calls back when a resource has changed. Returns a function that unsubscribes. */
  watch(uri: string, listener: (uri: string) => void): () => void
}

/** By `_meta.mcp` of the operation, which copies of the operation share. */
const upstreams = new WeakMap<object, MCPUpstream>()

/** Tells which server an imported operation comes from. */
export function setUpstream(origin: object, upstream: MCPUpstream): void {
  upstreams.set(origin, upstream)
}

/** The server of an imported operation; `undefined` if it is in another process. */
export function upstreamOf({ _meta }: Pick<OperationSpec, "_meta">): MCPUpstream | undefined {
  const origin = _meta?.["mcp"]
  return isRecord(origin) ? upstreams.get(origin) : undefined
}
