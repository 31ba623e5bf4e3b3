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
import { readOptions } from "./run-tool.ts"
import type { MCPServerStatus } from "./status.ts"
import { systemClock, wallTimeOf } from "../../../internal/clock.ts"

/** Options of a request to a server. */
export type MCPCallOptions = Pick<
  CallOptions,
  "signal" | "deadline" | "timeout" | "metadata" | "progress" | "requestInput" | "identity"
>

/** Direct access to a server, beyond its operations. */
export interface MCPClient {
  readonly name: string
  /** The server; `undefined` before the first connection. */
  readonly peer: MCPPeer | undefined
  /** Calls a tool by the server's own name. It bypasses the registry: no checks of access or schemas. */
  callTool(name: string, input?: unknown, options?: MCPCallOptions): Promise<ResponseEnvelope>
  /** The raw result: `{ contents }`. */
  readResource(uri: string, options?: MCPCallOptions): Promise<Readonly<Record<string, unknown>>>
  /** The raw result: `{ description, messages }`. */
  getPrompt(
    name: string,
    input?: Readonly<Record<string, string>>,
    options?: MCPCallOptions,
  ): Promise<Readonly<Record<string, unknown>>>
  /** Fetches a whole list from the server; registered operations do not change. */
  list(kind: MCPListKind, signal?: AbortSignal): Promise<MCPList>
  /** Fetches the lists again and updates operations and registries. */
  refresh(): Promise<MCPToolsChange>
  /** Closes the connection, connects again, even after too many crashes, and refreshes. */
  reconnect(): Promise<MCPPeer>
  status(): MCPServerStatus
  /** Listens for changed lists, new connections and lost connections. */
  onEvent(listener: (event: MCPConnectionEvent) => void): () => void
  /** May be called more than once. */
  close(): Promise<void>
}

/** Dependencies of a client. */
export interface ClientParts extends Pick<MCPClient, "callTool" | "refresh" | "status" | "close"> {
  readonly connection: MCPConnection
  /** The server's instructions for models, as far as they were accepted. */
  readonly instructions: () => string | undefined
}

/** Creates a client for a connection. */
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
    readResource: (uri, options) => connection.readResource(uri, requestOptions(options)),
    getPrompt: (name, input, options) =>
      connection.getPrompt(name, input ?? {}, requestOptions(options)),
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

/** Converts the options of a call to those of a request. */
function requestOptions(options: MCPCallOptions | undefined): MCPRequestOptions {
  return readOptions({ ...options, deadline: deadlineOf(options) }, undefined)
}

/** The earlier of `deadline` and `timeout`, in epoch milliseconds. */
export function deadlineOf(options: MCPCallOptions | undefined): number | undefined {
  const { deadline = Number.POSITIVE_INFINITY, timeout } = options ?? {}
  const due = Math.min(
    deadline,
    timeout === undefined ? deadline : wallTimeOf(systemClock) + timeout,
  )
  return due === Number.POSITIVE_INFINITY ? undefined : due
}
