import type { CredentialContext, Identity } from "../../../core/types.ts"

/** The call that a credential is for. */
export interface AuthContext {
  readonly operationId: string
  /** The origin that the request goes to. */
  readonly origin: string
  /** The base of a relative `tokenUrl` in the document; default: the origin. */
  readonly documentUrl?: string | undefined
  readonly allowedOrigins?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
  /** The caller. Read only if a function needs it: a handler's context copies it then. */
  readonly caller?: { readonly identity?: Identity | undefined } | undefined
  /**
   * The document does not say whether the operation needs a credential: available ones are sent then.
   * Schemes that the document declares nevertheless may be passed as alternatives.
   */
  readonly isUndeclared?: boolean | undefined
  /** Provides access tokens for client credentials; caches them while they are valid. */
  readonly tokens?: TokenProvider | undefined
}

/** A request to a token endpoint. */
export interface TokenRequest {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: readonly string[]
  readonly authMethod: "basic" | "body"
}

export interface TokenProvider {
  token(request: TokenRequest, signal: AbortSignal): Promise<string>
  /** Drops a refused token: the next call gets another one. */
  forget(request: TokenRequest, token: string): void
}

/** The argument of the user's credential functions. */
export function credentialContext({
  operationId,
  signal = new AbortController().signal,
  caller,
}: Pick<AuthContext, "operationId" | "signal" | "caller">): CredentialContext {
  return { identity: caller?.identity, operationId, signal }
}
