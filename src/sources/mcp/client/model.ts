// The values that a connection, which implements the protocol, and its users exchange.

import type { FromClient } from "../../../core/calling-client.ts"
import type { MCPEra } from "../../../mcp/model.ts"
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
export type MCPListKind = "tools" | "resources" | "resourceTemplates" | "prompts" | "skills"

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

/** Answers the questions of one call. */
export type RequestInput = (request: InputRequest) => Promise<InputResponse>

/** Options of a request. */
export interface MCPRequestOptions extends FromClient {
  /** May be a lightweight one, which only `addSignalListener` understands. */
  readonly signal?: AbortSignal | undefined
  /** A hard limit, in epoch milliseconds. */
  readonly deadline?: number | undefined
  /** Idle timeout in milliseconds; progress resets it. */
  readonly timeout?: number | undefined
  readonly progress?: ((value: ProgressUpdate) => void) | undefined
  /** Answers the server's questions while this request runs. */
  readonly requestInput?: RequestInput | undefined
  /** Sent as `_meta`: trace context and user data. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  readonly caller?: RequestCaller | undefined
  /** The request has no effect, so it may be sent again after a lost connection. */
  readonly isRepeatable?: boolean | undefined
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
