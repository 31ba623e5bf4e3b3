// The seam between a surface, which knows the registry, and the ways in which it is served.

import type { MCPEra, MCPToolDefinition } from "../../mcp/model.ts"
import type { Identity, InputRequest, InputResponse, ProgressUpdate } from "../../core/types.ts"
import type { Logger } from "../../internal/logger.ts"

/** Whom a list is for, or a call is from. */
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

/** What a call takes beside its arguments. */
export interface SurfaceCall extends SurfaceCaller {
  readonly signal: AbortSignal
  readonly progress?: ((value: ProgressUpdate) => void) | undefined
  readonly requestInput?: ((request: InputRequest) => Promise<InputResponse>) | undefined
  readonly log?: Logger | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** What a tool call answers, as it goes out. */
export interface SurfaceResult {
  readonly content: readonly Readonly<Record<string, unknown>>[]
  readonly structuredContent?: unknown
  readonly isError?: true
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** A registry as MCP tools, whoever asks and however they came. */
export interface MCPSurface {
  /** Changes with the registry; equal versions have equal lists. */
  readonly version: number
  /** Throws `ProtocolFault` for a cursor that is none, or of an older version. */
  list(caller: SurfaceCaller, cursor: string | undefined): SurfacePage
  /** One tool, for those who check headers against it; `undefined` where the caller has none such. */
  find(name: string, caller: SurfaceCaller): MCPToolDefinition | undefined
  /** Throws `ProtocolFault` for what is the protocol's to say; everything else is a result. */
  call(name: string, input: unknown, call: SurfaceCall): Promise<SurfaceResult>
  /** Told when lists have changed; several changes of one turn are told once. */
  onChange(listener: () => void): () => void
  /** Whether a caller sees every operation as a tool, or the three tools that search. */
  mode(caller: SurfaceCaller): SurfaceMode
  /** What it costs to show the tools to a model. */
  cost(caller: SurfaceCaller): SurfaceCost
  close(): void
}

/** What a list of tools consists of: all operations, or the three tools that search. */
export type SurfaceMode = "all" | "search"

/** Bytes and tokens of a list of tools, as it is and as it would be in the other mode. */
export interface SurfaceCost {
  readonly mode: SurfaceMode
  readonly all: { readonly tools: number; readonly bytes: number; readonly tokens: number }
  readonly search: { readonly tools: number; readonly bytes: number; readonly tokens: number }
}

/** An answer that is a JSON-RPC error instead of a result. */
export class ProtocolError extends Error {
  readonly code: number
  readonly data: unknown
  /** Status of an HTTP answer, where it is not 200. */
  readonly httpStatus: number | undefined

  constructor(code: number, message: string, data?: unknown, httpStatus?: number) {
    super(message)
    this.name = "ProtocolFault"
    this.code = code
    this.data = data
    this.httpStatus = httpStatus
  }
}
