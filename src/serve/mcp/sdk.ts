import { checkPeer, importError } from "../../internal/import-peer.ts"
import { LOG_LEVEL_META, type MCPEra, type JsonObject } from "../../mcp/model.ts"

// Types of the used part of the package `@modelcontextprotocol/server`.

/** A JSON-RPC id. */
export type RequestId = string | number

/** A schema for the SDK. */
interface StandardSchemaLike {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    validate(value: unknown): { readonly value: unknown }
  }
}

/** The context of a request that a handler answers. */
export interface SDKContext {
  readonly mcpReq: {
    readonly id: RequestId
    readonly _meta?: JsonObject
    /** Metadata of a modern request about its sender. */
    readonly envelope?: JsonObject
    readonly inputResponses?: JsonObject
    requestState(): unknown
    readonly signal: AbortSignal
    send(
      request: SDKMessage,
      schema: StandardSchemaLike,
      options: { readonly timeout: number; readonly signal: AbortSignal },
    ): Promise<unknown>
    notify(notification: SDKMessage): Promise<void>
  }
  readonly http?: { readonly authInfo?: unknown } | undefined
}

/** A request or a notification without its JSON-RPC envelope. */
export interface SDKMessage {
  readonly method: string
  readonly params?: JsonObject
}

/** Answers one method. */
export type SDKHandler = (params: JsonObject, context: SDKContext) => Promise<object> | object

/** The low-level server: one per connection, or per request. */
export interface SDKServer {
  setRequestHandler(
    method: string,
    schemas: { readonly params: StandardSchemaLike },
    handler: SDKHandler,
  ): void
  getClientCapabilities(): JsonObject | undefined
  sendToolListChanged(): Promise<void>
  connect(transport: SDKTransport): Promise<void>
  close(): Promise<void>
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
}

/** A transport of messages. */
export interface SDKTransport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: ((message: unknown, extra?: unknown) => void) | undefined
  send(message: object): Promise<void>
  close(): Promise<void>
}

/** The streamable HTTP transport of one session. */
export interface SDKSessionTransport extends SDKTransport {
  readonly sessionId?: string | undefined
  handleRequest(
    request: Request,
    options: { readonly parsedBody?: unknown; readonly authInfo?: unknown },
  ): Promise<Response>
  closeSSEStream(id: RequestId): void
}

/** Creates a server for a connection. */
export type SDKFactory = (context: {
  readonly era: MCPEra
  readonly authInfo?: unknown
}) => SDKServer

/** Serves single requests. */
export interface SDKHttpHandler {
  fetch(
    request: Request,
    options: { readonly parsedBody?: unknown; readonly authInfo?: unknown },
  ): Promise<Response>
  readonly notify: { toolsChanged(): void }
  close(): Promise<void>
}

/** The protocol era of a request, or why it has none. */
export interface SDKRoute {
  readonly kind: "legacy" | "modern" | "reject"
  readonly messageKind?: "request" | "notification"
}

type ServerConstructor = new (info: JsonObject, options: JsonObject) => SDKServer

/** Main entry of the package. */
export interface ServerSDK {
  readonly Server: ServerConstructor
  readonly WebStandardStreamableHTTPServerTransport: new (
    options: JsonObject,
  ) => SDKSessionTransport
  createMcpHandler(factory: SDKFactory, options: JsonObject): SDKHttpHandler
  classifyInboundRequest(request: JsonObject): SDKRoute
}

/** Entry of the package that needs a process. */
export interface StdioSDK {
  readonly StdioServerTransport: new (stdin: unknown, stdout: unknown) => SDKTransport
  serveStdio(factory: SDKFactory, options: JsonObject): { close(): Promise<void> }
}

/** Loads the package. */
export async function loadServerSDK(): Promise<ServerSDK> {
  try {
    const sdk = (await import("@modelcontextprotocol/server")) as unknown as ServerSDK
    return { ...sdk, Server: withoutChecks(sdk.Server) }
  } catch (error) {
    throw importError("to-mcp", "@modelcontextprotocol/server", error)
  }
}

/** Rejects if the package is missing. */
export function checkServerSDK(): Promise<void> {
  return checkPeer("@modelcontextprotocol/server", loadServerSDK)
}

/** Loads the entry that serves standard input and output. */
export async function loadStdioSDK(): Promise<StdioSDK> {
  try {
    return (await import("@modelcontextprotocol/server/stdio")) as unknown as StdioSDK
  } catch (error) {
    throw importError("to-mcp", "@modelcontextprotocol/server", error)
  }
}

/**
 * The server without its own validation of `tools/call`.
 *
 * It would drop unknown fields of content blocks, and walk each result twice.
 */
function withoutChecks(Server: ServerConstructor): ServerConstructor {
  return class extends Server {
    protected _wrapHandler(_method: string, handler: unknown): unknown {
      return handler
    }
  }
}

/** Accepts everything: data is validated where it is used. */
export const ANYTHING: StandardSchemaLike = {
  "~standard": { version: 1, vendor: "operations", validate: (value) => ({ value }) },
}

/** We do not use the SDK's validator, which would be created for each request. */
export const NO_VALIDATOR: JsonObject = {
  getValidator: () => (input: unknown) => ({
    valid: true,
    data: input,
    errorMessage: undefined,
  }),
}

/** Keys of the envelope of modern requests. */
export const ENVELOPE = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: LOG_LEVEL_META as typeof LOG_LEVEL_META,
} as const
