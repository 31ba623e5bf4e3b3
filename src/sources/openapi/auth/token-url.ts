import { CallError } from "../../../core/errors.ts"
import { originOf, parseUrl } from "../../../http-client/egress.ts"
import type { Credential } from "../config.ts"
import type { AuthContext, TokenRequest } from "./context.ts"

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
    throw new CallError(
      "VALIDATION_ERROR",
      `The document does not say where to fetch a token for "${operationId}". Add "tokenUrl" to the client credentials.`,
      { operationId },
    )
  }
  const base = documentUrl !== undefined && /^https?:/i.test(documentUrl) ? documentUrl : origin
  const url = parse(tokenUrl, base, context)
  if (url.origin === originOf(origin) || allowedOrigins.map(originOf).includes(url.origin)) {
    return url.href
  }
  throw new CallError(
    "EGRESS_BLOCKED",
    `The document asks to send the client secret for "${operationId}" to ${url.origin}. If that is right, add "tokenUrl" to the client credentials, or the origin to "allowedOrigins".`,
    { operationId },
  )
}

function parse(text: string, base: string | undefined, { operationId }: AuthContext): URL {
  const url = parseUrl(text, base)
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === "") {
    return url
  }
  throw new CallError(
    "VALIDATION_ERROR",
    `"tokenUrl" for "${operationId}" must be an absolute http(s) address without user and password.`,
    { operationId },
  )
}
