import type { TokenSource } from "../../../http-client/oauth.ts"
import type { TokenProvider, TokenRequest } from "./context.ts"

// Callers may have their own credentials, and a changed secret leaves old sources behind.
const MAX_SOURCES = 1000

/** Keeps one source for each token endpoint, client and set of scopes. */
export function createTokenStore(create: (request: TokenRequest) => TokenSource): TokenProvider {
  const sources = new Map<string, TokenSource>()
  const sourceOf = (request: TokenRequest): TokenSource => {
    const { tokenUrl, clientId, clientSecret, scopes, authMethod } = request
    const key = JSON.stringify([tokenUrl, clientId, clientSecret, scopes, authMethod])
    const existing = sources.get(key)
    if (existing !== undefined) {
      // Reinserted, so that the first entry is always the least recently used.
      sources.delete(key)
      sources.set(key, existing)
      return existing
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
