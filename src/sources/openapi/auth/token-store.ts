import type { TokenProvider, TokenRequest } from "./context.ts"

/** Fetches and keeps one token; `createTokenSource` makes such. */
export interface TokenSourceLike {
  token(signal: AbortSignal): Promise<string>
  forget(token: string): void
}

// Callers may have credentials of their own, and a secret that changes leaves old ones behind.
const MAX_SOURCES = 1000

/** Keeps one source for each token endpoint, client and set of scopes. */
export function createTokenStore(
  create: (request: TokenRequest) => TokenSourceLike,
): TokenProvider {
  const sources = new Map<string, TokenSourceLike>()
  const sourceOf = (request: TokenRequest): TokenSourceLike => {
    const { tokenUrl, clientId, clientSecret, scopes, authMethod } = request
    const key = JSON.stringify([tokenUrl, clientId, clientSecret, scopes, authMethod])
    const known = sources.get(key)
    if (known !== undefined) {
      // Set anew, so that the first one is always the one that was not used for longest.
      sources.delete(key)
      sources.set(key, known)
      return known
    }
    const oldest = sources.size < MAX_SOURCES ? undefined : sources.keys().next().value
    if (oldest !== undefined) sources.delete(oldest)
    const source = create(request)
    sources.set(key, source)
    return source
  }
  return {
    token: (request, signal) => sourceOf(request).token(signal),
    forget: (request, token) => sourceOf(request).forget(token),
  }
}
