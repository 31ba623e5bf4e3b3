/** Transports messages to an MCP server: a transport of the SDK, or a custom one. */
export interface MCPTransportLike {
  start(): Promise<void>
  send(message: unknown, options?: unknown): Promise<void>
  close(): Promise<void>
  onmessage?: ((message: never, extra?: never) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
}

/** Provides the token for each request; `onUnauthorized` is called when the server refused one. */
export interface MCPTokenProvider {
  token(): Promise<string | undefined>
  onUnauthorized?(context: never): Promise<void>
}

/** An OAuth client provider of the SDK, passed on unchanged. */
export interface MCPOAuthProviderLike {
  readonly redirectUrl: string | URL | undefined
  readonly clientMetadata: object
  tokens(): unknown
  saveTokens(tokens: never, context?: never): unknown
}

export type MCPAuthProvider = MCPTokenProvider | MCPOAuthProviderLike
