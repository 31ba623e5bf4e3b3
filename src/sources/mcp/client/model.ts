// The interface between a connection, which implements the protocol, and its users.

import type { MCPEra, MCPToolDefinition, MCPToolResult } from "../../../mcp/model.ts"
import type { Identity, InputRequest, InputResponse, ProgressUpdate } from "../../../core/types.ts"

/** The server at the other end. */
export interface MCPPeer {
  readonly era: MCPEra
  readonly protocolVersion: string
  readonly serverInfo: { readonly name: string; readonly version: string } | undefined
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string | undefined
}

/** The kinds of lists of a server. */
export type MCPListKind = "tools" | "resources" | "resourceTemplates" | "prompts"

/** A list with all its pages. */
export interface MCPList {
  /** The items as received, not yet validated. */
  readonly items: readonly unknown[]
  /** How long the list is valid, according to the server. */
  readonly ttlMs: number | undefined
  /** Why the list may be incomplete: a repeated cursor, or a limit. */
  readonly warnings: readonly string[]
}

/** The call that a request belongs to, for headers that depend on the caller, and for the log. */
export interface RequestCaller {
  /** Read only if headers depend on it: a handler's context copies it then. */
  readonly identity?: Identity | undefined
  readonly operationId?: string | undefined
  /** Read only if a line of the server's log belongs to the call: a handler's context creates it then. */
  readonly requestId?: string | undefined
}

/** Options of a request. */
export interface MCPRequestOptions {
  /** May be a lightweight one, which only `addSignalListener` understands. */
  readonly signal?: AbortSignal | undefined
  /** A hard limit, in epoch milliseconds. */
  readonly deadline?: number | undefined
  /** Idle timeout in milliseconds; progress resets it. */
  readonly timeout?: number | undefined
  readonly progress?: ((value: ProgressUpdate) => void) | undefined
  /** Answers the server's questions while this request runs. */
  readonly requestInput?: ((request: InputRequest) => Promise<InputResponse>) | undefined
  /** Sent as `_meta`: trace context and user data. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  readonly caller?: RequestCaller | undefined
  /** The request has no effect, so it may be sent again after a lost connection. */
  readonly isRepeatable?: boolean | undefined
}

/** A connection that outlives its sockets and processes: lost ones are reopened when needed. */
export interface MCPConnection {
  readonly name: string
  /** `undefined` before the first connection. */
  readonly peer: MCPPeer | undefined
  readonly status: MCPConnectionStatus
  /** Connects unless connected; concurrent callers share one attempt. */
  connect(signal?: AbortSignal): Promise<MCPPeer>
  /** Closes the connection and connects again, even after too many crashes. */
  reconnect(): Promise<MCPPeer>
  /** Fetches all pages. A kind that the server does not declare is empty, without a request. */
  list(kind: MCPListKind, signal?: AbortSignal): Promise<MCPList>
  callTool(
    tool: MCPToolDefinition,
    input: Readonly<Record<string, unknown>>,
    options: MCPRequestOptions,
  ): Promise<MCPToolResult>
  /** The raw result: `{ contents }`. */
  readResource(uri: string, options: MCPRequestOptions): Promise<Readonly<Record<string, unknown>>>
  /** The raw result: `{ description, messages }`. */
  getPrompt(
    name: string,
    input: Readonly<Record<string, string>>,
    options: MCPRequestOptions,
  ): Promise<Readonly<Record<string, unknown>>>
  /** Listens for changed lists, reopened connections (everything may have changed) and lost connections. */
  onEvent(listener: (event: MCPConnectionEvent) => void): () => void
  /** May be called more than once. Later requests fail with `UNAVAILABLE`. */
  close(): Promise<void>
}

export type MCPConnectionEvent =
  | { readonly type: "changed"; readonly kind: MCPListKind }
  | { readonly type: "connected"; readonly isAgain: boolean }
  | { readonly type: "lost"; readonly error: unknown }

/** For a status page; contains no secrets. */
export interface MCPConnectionStatus {
  readonly state: "idle" | "connecting" | "ready" | "lost" | "failed" | "closed"
  /** How often it was reopened. */
  readonly restarts: number
  readonly pid: number | undefined
  /** The last output of a child process to stderr. */
  readonly stderrTail: string | undefined
  readonly lastError: string | undefined
}
