import { CallError } from "../../../core/errors.ts"
import { callUntilAborted } from "../../../core/call-headers.ts"
import type { Credential, Secret } from "../config.ts"
import type { CredentialContext, Identity } from "../../../core/types.ts"
import type { TokenSource } from "../../../http-client/oauth.ts"
import { originOf, parseUrl } from "../../../http-client/egress.ts"

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

/**
 * Creates the request to a token endpoint.
 *
 * The user's own `tokenUrl` may be anywhere. The document's gets the client secret only at an origin that
 * requests may go to anyway: otherwise a document could send the secret to its author.
 */
export function tokenRequest(
  credential: Extract<Credential, { type: "clientCredentials" }>,
  client: { readonly clientId: string; readonly clientSecret: string },
  scopes: readonly string[],
  declaredUrl: string | undefined,
  context: AuthContext,
): TokenRequest {
  return {
    ...client,
    tokenUrl:
      credential.tokenUrl === undefined
        ? declared(declaredUrl, context)
        : parse(credential.tokenUrl, undefined, context).href,
    scopes: [...new Set(credential.scopes ?? scopes)].toSorted(),
    authMethod: credential.authMethod ?? "basic",
  }
}

function declared(tokenUrl: string | undefined, context: AuthContext): string {
  const { operationId, origin, allowedOrigins = [], documentUrl } = context
  if (tokenUrl === undefined) {
    const message = `The document does not say where to fetch a token for "${operationId}". Add "tokenUrl" to the client credentials.`
    throw new CallError("VALIDATION_ERROR", message, { operationId })
  }
  const base = documentUrl !== undefined && /^https?:/i.test(documentUrl) ? documentUrl : origin
  const url = parse(tokenUrl, base, context)
  if (url.origin === originOf(origin) || allowedOrigins.map(originOf).includes(url.origin)) {
    return url.href
  }
  const message = `The document asks to send the client secret for "${operationId}" to ${url.origin}. If that is right, add "tokenUrl" to the client credentials, or the origin to "allowedOrigins".`
  throw new CallError("EGRESS_BLOCKED", message, { operationId })
}

function parse(text: string, base: string | undefined, { operationId }: AuthContext): URL {
  const url = parseUrl(text, base)
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === "") {
    return url
  }
  const message = `"tokenUrl" for "${operationId}" must be an absolute http(s) address without user and password.`
  throw new CallError("VALIDATION_ERROR", message, { operationId })
}

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

/**
 * Reads a secret; `what` names it in messages.
 *
 * An exception of a failing function is neither quoted nor kept as a cause: it may contain the secret.
 */
export async function readSecret(
  secret: Secret | undefined,
  what: string,
  context: AuthContext,
): Promise<string> {
  const value: unknown =
    typeof secret === "function"
      ? await callUntilAborted(secret, credentialContext(context), subjectOf(what, context))
      : secret
  if (typeof value !== "string") throw unauthenticated(`it is not a string`, what, context)
  return value
}

/** Refuses a value that would break out of its place in a request; the message does not contain it. */
export function checkValue(
  value: string,
  what: string,
  place: "header" | "query" | "cookie",
  context: AuthContext,
): void {
  const issue = findIssue(value, place)
  if (issue === undefined) return
  const { operationId } = context
  throw new CallError("VALIDATION_ERROR", `${subjectOf(what, context)} ${issue}.`, {
    operationId,
  })
}

export function unauthenticated(why: string, what: string, context: AuthContext): CallError {
  const message = `${subjectOf(what, context)} is missing: ${why}.`
  return new CallError("UNAUTHENTICATED", message, { operationId: context.operationId })
}

function findIssue(value: string, place: "header" | "query" | "cookie"): string | undefined {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001F\u007F]/.test(value)) {
    return "contains a line break or another control character; a value read from a file may need trimming"
  }
  if (place === "header" && /[^\u0020-\u00FF]/.test(value)) {
    return "contains a character that is not allowed in headers"
  }
  if (place === "cookie" && /[\s;,"\\]|[^\u0021-\u007E]/.test(value)) {
    return "contains a character that is not allowed in cookies"
  }
  return undefined
}

function subjectOf(what: string, { operationId }: AuthContext): string {
  return `${what.charAt(0).toUpperCase()}${what.slice(1)} for "${operationId}"`
}
