import { importPeer } from "../../../internal/import-peer.ts"

/** A JSON-RPC message, of whatever kind. */
export type Message = Readonly<Record<string, unknown>>

/** What a transport may be told about one message. */
export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly requestSignal?: AbortSignal
  readonly onRequestStreamEnd?: () => void
}

/** How messages travel: what the package calls a transport, and what a user may make. */
export interface TransportLike {
  onmessage?: ((message: never, extra?: never) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  readonly sessionId?: string | undefined
  readonly hasPerRequestStream?: boolean | undefined
  start(): Promise<void>
  send(message: never, options?: SendOptions): Promise<void>
  close(): Promise<void>
  setProtocolVersion?(version: string): void
  terminateSession?(): Promise<void>
}

/** What a request of the package's client takes. */
export interface ClientRequestOptions {
  readonly signal?: AbortSignal
  readonly timeout?: number
  readonly toolDefinition?: unknown
}

/** A stream of change notices. */
export interface Subscription {
  readonly closed: Promise<string>
  close(): Promise<void>
}

/** As much of the package's client as is used. */
export interface ClientLike {
  onerror?: ((error: Error) => void) | undefined
  connect(transport: unknown, options: ClientRequestOptions): Promise<void>
  close(): Promise<void>
  request(
    request: { readonly method: string; readonly params?: unknown },
    schema: unknown,
    options: ClientRequestOptions,
  ): Promise<unknown>
  callTool(params: unknown, options: ClientRequestOptions): Promise<unknown>
  listen(filter: unknown, options: ClientRequestOptions): Promise<Subscription>
  notification(notification: { readonly method: string; readonly params: unknown }): Promise<void>
  setRequestHandler(
    method: string,
    handler: (
      request: { readonly params?: Readonly<Record<string, unknown>> },
      context: { readonly mcpReq?: { readonly signal?: AbortSignal } },
    ) => Promise<unknown>,
  ): void
  getServerCapabilities(): Readonly<Record<string, unknown>> | undefined
  getServerVersion(): { readonly name: string; readonly version: string } | undefined
  getNegotiatedProtocolVersion(): string | undefined
  getProtocolEra(): "legacy" | "modern" | undefined
  getInstructions(): string | undefined
}

/** The part of the package that is used. */
export interface SdkModule {
  readonly Client: new (info: unknown, options: Readonly<Record<string, unknown>>) => ClientLike
  readonly StreamableHTTPClientTransport: new (url: URL, options: unknown) => TransportLike
  readonly SSEClientTransport: new (url: URL, options: unknown) => TransportLike
}

/** Loads the package on first use. */
export function loadSdk(): Promise<SdkModule> {
  return importPeer("from-mcp", "@modelcontextprotocol/client", importSdk)
}

// Bundlers leave alone what handles its failure, or says so: it is an optional package.
function importSdk(): Promise<SdkModule> {
  const module: Promise<unknown> = import(
    /* webpackIgnore: true */ "@modelcontextprotocol/client"
  ).catch((error: unknown) => {
    throw error
  })
  return module as Promise<SdkModule>
}

/** Takes any result: what came is looked at by whoever asked for it. */
export const ANY_RESULT: unknown = {
  "~standard": {
    version: 1,
    vendor: "operations",
    validate: (value: unknown) => ({ value }),
  },
}
