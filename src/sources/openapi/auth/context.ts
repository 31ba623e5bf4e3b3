import type { CredentialContext, Identity } from "../../../core/types.ts"

/** What is known of the call that a credential is for. */
export interface AuthContext {
  readonly operationId: string
  /** The origin that the request goes to. */
  readonly origin: string
  /** What a relative `tokenUrl` of the document is relative to; the origin without it. */
  readonly documentUrl?: string | undefined
  readonly allowedOrigins?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
  /** Has who calls. Read only when a function asks: a handler's context copies it then. */
  readonly caller?: { readonly identity?: Identity | undefined } | undefined
  /**
   * The document does not say whether the operation needs a credential: what there is is sent then.
   * Schemes that the document declares all the same may be given as alternatives.
   */
  readonly isUndeclared?: boolean | undefined
  /** Gives access tokens for client credentials, the same one while it is good. */
  readonly tokens?: TokenProvider | undefined
}

/** What a token endpoint is asked with. */
export interface TokenRequest {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: readonly string[]
  readonly authMethod: "basic" | "body"
}

export interface TokenProvider {
  token(request: TokenRequest, signal: AbortSignal): Promise<string>
  /** The token was not accepted: the next call gets another one. */
  forget(request: TokenRequest, token: string): void
}

/** What a function of the user's is called with. */
export function credentialContext({
  operationId,
  signal = new AbortController().signal,
  caller,
}: Pick<AuthContext, "operationId" | "signal" | "caller">): CredentialContext {
  return { identity: caller?.identity, operationId, signal }
}
