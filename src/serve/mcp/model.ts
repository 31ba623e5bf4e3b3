// The interface between a surface, which knows the registry, and the protocols that serve it.

import type { MCPEra, MCPToolDefinition } from "../../mcp/model.ts"
import type { Identity, InputRequest, InputResponse, ProgressUpdate } from "../../core/types.ts"
import type { Logger } from "../../internal/logger.ts"

/** The caller of a list or call. */
export interface SurfaceCaller {
  readonly identity: Identity | undefined
  readonly era: MCPEra
}

/** A page of tools. */
export interface SurfacePage {
  readonly tools: readonly MCPToolDefinition[]
  readonly nextCursor?: string
  readonly ttlMs: number
  readonly cacheScope: "public" | "private"
}

/** Options of a call. */
export interface SurfaceCall extends SurfaceCaller {
  readonly signal: AbortSignal
  readonly progress?: ((value: ProgressUpdate) => void) | undefined
  readonly requestInput?: ((request: InputRequest) => Promise<InputResponse>) | undefined
  readonly log?: Logger | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** The result of a tool call. */
export interface SurfaceResult {
  readonly content: readonly Readonly<Record<string, unknown>>[]
  readonly structuredContent?: unknown
  readonly isError?: true
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** A registry as MCP tools, for all callers and protocols. */
export interface MCPSurface {
  /** Changes with the registry; equal versions mean equal lists. */
  readonly version: number
  /** Throws `ProtocolError` for an invalid or outdated cursor. */
  list(caller: SurfaceCaller, cursor: string | undefined): SurfacePage
  /** One tool, for checking headers against it; `undefined` when the caller has no such tool. */
  find(name: string, caller: SurfaceCaller): MCPToolDefinition | undefined
  /** Throws `ProtocolError` for protocol errors; all other failures are results. */
  call(name: string, input: unknown, call: SurfaceCall): Promise<SurfaceResult>
  /** Notifies when lists have changed, once for all changes of one turn. */
  onChange(listener: () => void): () => void
  /** Whether a caller sees every operation as a tool, or the three search tools. */
  mode(caller: SurfaceCaller): SurfaceMode
  /** Size of the list of tools in a model's context. */
  cost(caller: SurfaceCaller): SurfaceCost
  close(): void
}

/** What a list of tools consists of: all operations, or the three search tools. */
export type SurfaceMode = "all" | "search"

/** Bytes and tokens of the list of tools in both modes. */
export interface SurfaceCost {
  readonly mode: SurfaceMode
  readonly all: { readonly tools: number; readonly bytes: number; readonly tokens: number }
  readonly search: { readonly tools: number; readonly bytes: number; readonly tokens: number }
}

/** A JSON-RPC error, in place of a result. */
export class ProtocolError extends Error {
  readonly code: number
  readonly data: unknown
  /** HTTP status, if it is not 200. */
  readonly httpStatus: number | undefined

  constructor(code: number, message: string, data?: unknown, httpStatus?: number) {
    super(message)
    this.name = "ProtocolError"
    this.code = code
    this.data = data
    this.httpStatus = httpStatus
  }
}
