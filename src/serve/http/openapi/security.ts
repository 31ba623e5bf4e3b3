import type { AccessControl } from "../../../core/types.ts"
import type { DocumentSecurity, JsonObject } from "./model.ts"

const SCHEMES: Readonly<Record<DocumentSecurity, JsonObject>> = {
  bearer: { type: "http", scheme: "bearer" },
  jwt: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
}

/** The security schemes of a document, by name. */
export function securitySchemes(security: readonly DocumentSecurity[]): JsonObject {
  return Object.fromEntries(security.map((name) => [name, { ...SCHEMES[name] }]))
}

/** Security requirements: any one of the schemes, with all of the scopes. */
export function securityRequirements(
  security: readonly DocumentSecurity[],
  scopes: readonly string[] = [],
): JsonObject[] {
  return security.map((name) => ({ [name]: [...scopes] }))
}

/** The security alternatives of an operation; `undefined` when the default applies. */
export function operationSecurity(
  security: readonly DocumentSecurity[],
  { requiredScopes, requiredScopesAny }: AccessControl,
): JsonObject[] | undefined {
  const any = requiredScopesAny ?? []
  if (security.length === 0 || (requiredScopes.length === 0 && any.length === 0)) return undefined
  if (any.length === 0) return securityRequirements(security, requiredScopes)
  return any.flatMap((scope) =>
    securityRequirements(security, [...new Set([...requiredScopes, scope])]),
  )
}
