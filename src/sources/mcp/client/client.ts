import type { ResponseEnvelope } from "../../../core/envelope.ts"
import type { CallOptions } from "../../../core/types.ts"
import type {
  MCPConnection,
  MCPConnectionEvent,
  MCPList,
  MCPListKind,
  MCPPeer,
  MCPRequestOptions,
} from "./model.ts"
import type { MCPToolsChange } from "./refresh.ts"
import { callerOf, traceOf } from "./run-tool.ts"
import type { MCPServerStatus } from "./status.ts"
import { systemClock, wallTimeOf } from "../../../internal/clock.ts"

/** What may be said about a request to a server. */
export type MCPCallOptions = Pick<
  CallOptions,
  "signal" | "deadline" | "timeout" | "metadata" | "progress" | "requestInput" | "identity"
>

/** A server, for those who want more of it than its operations. */
export interface MCPClient {
  readonly name: string
  /** Who answers; `undefined` before it was connected. */
  readonly peer: MCPPeer | undefined
  /** Calls a tool by the server's own name for it. No registry: nobody checks access or schemas. */
  callTool(name: string, input?: unknown, options?: MCPCallOptions): Promise<ResponseEnvelope>
  /** The raw result: `{ contents }`. */
  readResource(uri: string, options?: MCPCallOptions): Promise<Readonly<Record<string, unknown>>>
  /** The raw result: `{ description, messages }`. */
  getPrompt(
    name: string,
    input?: Readonly<Record<string, string>>,
    options?: MCPCallOptions,
  ): Promise<Readonly<Record<string, unknown>>>
  /** A whole list as the server has it now; what is registered stays as it is. */
  list(kind: MCPListKind, signal?: AbortSignal): Promise<MCPList>
  /** Lists anew, and brings operations and registries in step. */
  refresh(): Promise<MCPToolsChange>
  /** Closes what is open and connects anew, also after too many crashes; then refreshes. */
  reconnect(): Promise<MCPPeer>
  status(): MCPServerStatus
  /** Told of changed lists, of new connections and of losses. */
  onEvent(listener: (event: MCPConnectionEvent) => void): () => void
  /** Twice is fine. */
  close(): Promise<void>
}

/** What a client is made of. */
export interface ClientParts extends Pick<MCPClient, "callTool" | "refresh" | "status" | "close"> {
  readonly connection: MCPConnection
  /** What the server tells models about itself, as far as it was accepted. */
  readonly instructions: () => string | undefined
}

/** A client over a connection and what is made of it. */
export function clientOver(parts: ClientParts): MCPClient {
  const { connection, callTool, refresh, status, close } = parts
  const accepted = (peer: MCPPeer): MCPPeer => ({ ...peer, instructions: parts.instructions() })
  return {
    name: connection.name,
    get peer() {
      const { peer } = connection
      return peer === undefined ? undefined : accepted(peer)
    },
    callTool,
    readResource: (uri, options) => connection.readResource(uri, requestOptions(options, true)),
    getPrompt: (name, input, options) =>
      connection.getPrompt(name, input ?? {}, requestOptions(options, true)),
    list: (kind, signal) => connection.list(kind, signal),
    refresh,
    async reconnect() {
      const peer = await connection.reconnect()
      await refresh()
      return accepted(peer)
    },
    status,
    onEvent: (listener) => connection.onEvent(listener),
    close,
  }
}

/** Options of a caller as those of a request. */
function requestOptions(
  options: MCPCallOptions | undefined,
  isRepeatable: boolean,
): MCPRequestOptions {
  const { signal, progress, requestInput, metadata } = options ?? {}
  return {
    signal,
    progress,
    requestInput,
    deadline: deadlineOf(options),
    meta: traceOf(metadata),
    isRepeatable,
    caller: callerOf(options ?? {}, undefined),
  }
}

/** The earlier of the two ways to say how long somebody waits. */
export function deadlineOf(options: MCPCallOptions | undefined): number | undefined {
  const { deadline = Number.POSITIVE_INFINITY, timeout } = options ?? {}
  const due = Math.min(
    deadline,
    timeout === undefined ? deadline : wallTimeOf(systemClock) + timeout,
  )
  return due === Number.POSITIVE_INFINITY ? undefined : due
}
