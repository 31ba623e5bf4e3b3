/** Whatever carries messages to an MCP server: a transport of the SDK, or one of your own. */
export interface MCPTransportLike {
  start(): Promise<void>
  send(message: unknown, options?: unknown): Promise<void>
  close(): Promise<void>
  onmessage?: ((message: never, extra?: never) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
}

/** Gives the token for each request; told when the server refused one. */
export interface MCPTokenProvider {
  token(): Promise<string | undefined>
  onUnauthorized?(context: never): Promise<void>
}

/** An OAuth client provider as the SDK describes it, handed on as it is. */
export interface MCPOAuthProviderLike {
  readonly redirectUrl: string | URL | undefined
  readonly clientMetadata: object
  tokens(): unknown
  saveTokens(tokens: never, context?: never): unknown
}

export type MCPAuthProvider = MCPTokenProvider | MCPOAuthProviderLike
