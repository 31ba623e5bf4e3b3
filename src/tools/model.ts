// The interface between a surface, which knows the registry, and the protocols that serve it.

import type { MCPEra, MCPToolDefinition } from "../mcp/model.ts"
import type { FromClient } from "../core/calling-client.ts"
import type { FromEntry } from "../core/tracing.ts"
import type { CallOptions, Identity } from "../core/types.ts"

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
export interface SurfaceCall
  extends
    SurfaceCaller,
    FromEntry,
    FromClient,
    Pick<CallOptions, "progress" | "requestInput" | "log" | "metadata" | "timeout" | "dryRun"> {
  readonly signal: AbortSignal
  /** The caller is a program that asked for whole results, however long. */
  readonly isWhole?: boolean | undefined
  /** Further metadata, which the HTTP server around this one provides for an operation. */
  readonly valuesFor?: ProvideValues | undefined
}

/** Returns a part of the metadata of a call. */
export type ProvideValues = (
  operationId: string,
) => CallOptions["metadata"] | Promise<CallOptions["metadata"]>

/** The result of a tool call. */
export interface SurfaceResult {
  readonly content: readonly Readonly<Record<string, unknown>>[]
  readonly structuredContent?: unknown
  readonly isError?: true
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** What a list of tools consists of: all operations, or the search tools. */
export type SurfaceMode = "all" | "search"

/** The list of tools in a model's context. */
export interface ToolCost {
  readonly tools: number
  /** Bytes of their definitions as JSON. */
  readonly bytes: number
  /** An estimate: a token for every 4 bytes. */
  readonly tokens: number
}

/** What the list of tools costs in both modes. */
export interface SurfaceCost {
  /** The mode that is served. */
  readonly mode: SurfaceMode
  readonly all: ToolCost
  readonly search: ToolCost
  /** Parts of `all`: by namespace, or by source in a hub; the most expensive first. */
  readonly parts: readonly (ToolCost & { readonly name: string })[]
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
