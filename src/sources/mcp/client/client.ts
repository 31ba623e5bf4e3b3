/// <reference lib="esnext.disposable" preserve="true" />
import type { ResponseEnvelope } from "../../../core/envelope.ts"
import type { CallOptions } from "../../../core/types.ts"
import type { LazyOperation } from "../../../core/lazy-operation.ts"
import type { AnyRegistry } from "../../../engine/registry.ts"
import type { MCPConnectionEvent, MCPList, MCPListKind, MCPPeer } from "./model.ts"
import type { MCPToolsChange } from "./refresh.ts"
import type { MCPServerStatus } from "./status.ts"

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

/** An operation of an MCP server. */
export type MCPOperation = LazyOperation

/** A connected server and its operations. Its creator closes it. */
export interface MCPClientWrapper extends AsyncDisposable {
  /** The namespace of its tools. */
  readonly name: string
  readonly client: MCPClient
  /** Its current tools. */
  readonly tools: MCPOperation[]
  /** Its tools, and its resources and prompts if they are enabled. */
  readonly operations: readonly MCPOperation[]
  /** The server's instructions for models; with pin "block" only accepted ones. */
  readonly instructions: string | undefined
  /** What was left out or is unreliable, and why. */
  readonly warnings: readonly string[]
  status(): MCPServerStatus
  /**
   * Registers the operations, all or none, and keeps the registry in sync with the server. Returns a function
   * that stops this and unregisters them; so does `close`.
   */
  registerAll(registry: AnyRegistry): () => void
  /** Listens for changes of the operations; called after each change. */
  onToolsChanged(listener: (change: MCPToolsChange) => void): () => void
  /** Fetches the lists again. Rejects when that fails, and then nothing changes. */
  refresh(): Promise<MCPToolsChange>
  /** Closes the connection, ends its process, and unregisters the operations. May be called more than once. */
  close(): Promise<void>
}
