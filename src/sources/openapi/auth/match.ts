import type { Credential, Secret } from "../config.ts"
import type { SecurityScheme } from "../model.ts"

/** Whether `auth`, the credential for everything, can satisfy a scheme. */
export function fits(scheme: SecurityScheme, credential: Credential | Secret): boolean {
  const kind = typeof credential === "object" ? credential : undefined
  switch (scheme.type) {
    case "apiKey":
      if (kind === undefined) return true
      if (kind.type === "bearer") return isAuthorization(scheme)
      return kind.type === "apiKey" && isSamePlace(scheme, kind)
    case "http":
      if (kind === undefined) return true
      if (isBasic(scheme)) return kind.type === "basic"
      return kind.type === "bearer" || (kind.type === "clientCredentials" && isBearer(scheme))
    case "oauth2":
    case "openIdConnect":
      return kind === undefined || kind.type === "bearer" || kind.type === "clientCredentials"
    case "mutualTLS":
    case "unknown":
      return false
  }
}

/** Like `fits`, but a bare secret does not count as user and password: it is usually a token. */
export function fitsWell(scheme: SecurityScheme, credential: Credential | Secret): boolean {
  if (typeof credential !== "object" && scheme.type === "http" && isBasic(scheme)) return false
  return fits(scheme, credential)
}

export function isBasic(scheme: { readonly scheme: string }): boolean {
  return scheme.scheme.toLowerCase() === "basic"
}

export function isBearer(scheme: { readonly scheme: string }): boolean {
  return scheme.scheme.toLowerCase() === "bearer"
}

/** Whether a scheme is a key in `Authorization`, as some documents describe bearer tokens. */
export function isAuthorization(scheme: { readonly in: string; readonly name: string }): boolean {
  return scheme.in === "header" && scheme.name.toLowerCase() === "authorization"
}

function isSamePlace(
  scheme: { readonly in: string; readonly name: string },
  credential: { readonly headerName?: string | undefined; readonly in?: string | undefined },
): boolean {
  const { headerName, in: place } = credential
  if (place !== undefined && place !== scheme.in) return false
  return headerName === undefined || headerName.toLowerCase() === scheme.name.toLowerCase()
}
