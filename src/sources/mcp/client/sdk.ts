import { importError } from "../../../internal/import-peer.ts"
import type { MCPTransportLike } from "../config.ts"

/** A JSON-RPC message, of whatever kind. */
export interface Message {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** Options of sending a message. */
export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly requestSignal?: AbortSignal
  readonly onRequestStreamEnd?: () => void
}

/** Reads an own property of any value. */
export function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Readonly<Record<string, unknown>>)[key]
}

/** A transport as the SDK defines it; users can provide their own. */
export interface TransportLike extends Omit<MCPTransportLike, "send"> {
  readonly sessionId?: string | undefined
  readonly hasPerRequestStream?: boolean | undefined
  send(message: never, options?: SendOptions): Promise<void>
  setProtocolVersion?(version: string): void
  terminateSession?(): Promise<void>
}

/** Options of a request of the SDK's client. */
export interface ClientRequestOptions {
  readonly signal?: AbortSignal
  readonly timeout?: number
}

/** The part of the SDK's client that is used. */
export interface ClientLike {
  connect(transport: unknown, options: ClientRequestOptions): Promise<void>
  close(): Promise<void>
  /** Opens a stream of change notifications; `closed` resolves with who closed it. */
  listen(
    filter: unknown,
    options: ClientRequestOptions,
  ): Promise<{ readonly closed: Promise<string> }>
  notification(notification: { readonly method: string; readonly params: unknown }): Promise<void>
  setRequestHandler(
    method: string,
    handler: (request: { readonly params?: unknown }) => Promise<unknown>,
  ): void
  getServerCapabilities(): Readonly<Record<string, unknown>> | undefined
  getServerVersion(): { readonly name: string; readonly version: string } | undefined
  getNegotiatedProtocolVersion(): string | undefined
  getProtocolEra(): "legacy" | "modern" | undefined
  getInstructions(): string | undefined
}

/** The part of the SDK that is used. */
export interface SdkModule {
  readonly Client: new (info: unknown, options: Readonly<Record<string, unknown>>) => ClientLike
  readonly StreamableHTTPClientTransport: new (url: URL, options: unknown) => TransportLike
  readonly SSEClientTransport: new (url: URL, options: unknown) => TransportLike
  readonly ProtocolError: { fromError(code: number, message: string, data: unknown): Error }
}

/** Loads the SDK on first use. */
export async function loadSdk(): Promise<SdkModule> {
  try {
    return (await import("@modelcontextprotocol/client")) as unknown as SdkModule
  } catch (error) {
    throw importError("from-mcp", "@modelcontextprotocol/client", error)
  }
}
