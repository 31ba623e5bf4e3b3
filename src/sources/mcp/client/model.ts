// The seam between a connection, which knows the protocol, and what is made of it.

import type { MCPEra, MCPToolDefinition, MCPToolResult } from "../../../mcp/model.ts"
import type { Identity, InputRequest, InputResponse, ProgressUpdate } from "../../../core/types.ts"

/** Who answers at the other end. */
export interface MCPPeer {
  readonly era: MCPEra
  readonly protocolVersion: string
  readonly serverInfo: { readonly name: string; readonly version: string } | undefined
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string | undefined
}

/** What can be listed, and can change. */
export type MCPListKind = "tools" | "resources" | "resourceTemplates" | "prompts"

/** A whole list, all pages of it. */
export interface MCPList {
  /** As they came; each one still has to be looked at. */
  readonly items: readonly unknown[]
  /** How long the list is good for, as the server says. */
  readonly ttlMs: number | undefined
  /** Why it may not be all: a cursor that came twice, a cap that was met. */
  readonly warnings: readonly string[]
}

/** The call that a request is part of, for headers that depend on who calls. */
export interface RequestCaller {
  /** Read only where headers depend on it: a handler's context copies it then. */
  readonly identity?: Identity | undefined
  readonly operationId?: string | undefined
}

/** What one request takes beside its parameters. */
export interface MCPRequestOptions {
  /** May be a lightweight one, which only `addSignalListener` understands. */
  readonly signal?: AbortSignal | undefined
  /** Epoch milliseconds; hard. */
  readonly deadline?: number | undefined
  /** Milliseconds without a sign of life; progress is one. */
  readonly timeout?: number | undefined
  readonly progress?: ((value: ProgressUpdate) => void) | undefined
  /** Answers what the server asks for while this request runs. */
  readonly requestInput?: ((request: InputRequest) => Promise<InputResponse>) | undefined
  /** Sent as `_meta`: trace context, and what the user gives. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  readonly caller?: RequestCaller | undefined
  /** The request may be sent again after a loss: it changes nothing. */
  readonly isRepeatable?: boolean | undefined
}

/** A connection that outlives its sockets and processes: lost ones are opened again when needed. */
export interface MCPConnection {
  readonly name: string
  /** `undefined` until it was connected once. */
  readonly peer: MCPPeer | undefined
  readonly status: MCPConnectionStatus
  /** Connects unless it is; callers at the same time share one attempt. */
  connect(signal?: AbortSignal): Promise<MCPPeer>
  /** Closes what is open and connects anew, also after too many crashes. */
  reconnect(): Promise<MCPPeer>
  /** All pages. A kind that the server does not declare is empty, without a request. */
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
  /** Told of changed lists, of connections that were opened again (everything may have changed), and of losses. */
  onEvent(listener: (event: MCPConnectionEvent) => void): () => void
  /** Twice is fine. Later requests fail with `UNAVAILABLE`. */
  close(): Promise<void>
}

export type MCPConnectionEvent =
  | { readonly type: "changed"; readonly kind: MCPListKind }
  | { readonly type: "connected"; readonly isAgain: boolean }
  | { readonly type: "lost"; readonly error: unknown }

/** For a status page: nothing secret is in it. */
export interface MCPConnectionStatus {
  readonly state: "idle" | "connecting" | "ready" | "lost" | "failed" | "closed"
  /** Times it was opened again. */
  readonly restarts: number
  readonly pid: number | undefined
  /** The end of what a child process wrote to its standard error. */
  readonly stderrTail: string | undefined
  readonly lastError: string | undefined
}
