import { CallError } from "../../core/errors.ts"
import { listed } from "../../internal/message-text.ts"
import { getOwn } from "../../schema/json.ts"
import { CredentialWriter, fits, fitsWell, type SelectedAuth } from "./auth/apply.ts"
import type { AuthContext } from "./auth/secrets.ts"
import type { Credential, HTTPServiceConfig, Secret } from "./config.ts"
import type { SecurityRequirement, SecurityScheme } from "./model.ts"

export type { AuthContext, TokenRequest } from "./auth/secrets.ts"

/** The user's credentials, as in `HTTPServiceConfig`. */
export type AuthConfig = Pick<HTTPServiceConfig, "auth" | "credentials">

/** A scheme of a requirement and its credential; `undefined` if it needs none from us. */
type Pairing = readonly [SecurityScheme, Credential | Secret, readonly string[]] | undefined
type Match = (scheme: SecurityScheme, credential: Credential | Secret) => boolean

/**
 * Chooses the credentials for an operation and reads their secrets.
 *
 * It uses the first alternative for which all credentials exist; named credentials come before `auth`. Without
 * any credential nothing is sent, and the server decides. Throws `UNAUTHENTICATED` when there are credentials
 * but not the right ones.
 */
export async function selectAuth(
  security: readonly SecurityRequirement[],
  config: AuthConfig,
  context: AuthContext,
): Promise<SelectedAuth> {
  const writer = new CredentialWriter(context)
  const { auth } = config
  const chosen = choose(security, config)
  if (chosen !== undefined) {
    for (const pairing of chosen) if (pairing !== undefined) await writer.add(...pairing)
    return writer.result()
  }
  if (context.isUndeclared === true) {
    if (auth !== undefined) await writer.addOwn(auth, [])
    return writer.result()
  }
  if (needsNone(security) || !hasAny(config)) return writer.result()
  // Documents are wrong about security more often than users: an explicit credential is used as it is.
  if (typeof auth === "object") {
    await writer.addOwn(auth, scopesOf(security))
    return writer.result()
  }
  throw missingCredentialError(security, config, context)
}

/** Whether there is a credential for what a document asks for. */
export function isMet(security: readonly SecurityRequirement[], config: AuthConfig): boolean {
  if (needsNone(security) || typeof config.auth === "object") return true
  return choose(security, config) !== undefined
}

function needsNone(security: readonly SecurityRequirement[]): boolean {
  if (security.length === 0) return true
  return security.some((requirement) => [...requirement.values()].every(isOutside))
}

/** The credentials for the first alternative that can be met; `undefined` if none can. */
function choose(
  security: readonly SecurityRequirement[],
  config: AuthConfig,
): readonly Pairing[] | undefined {
  const { auth } = config
  const rounds: readonly (Match | undefined)[] = [undefined, fitsWell, fits]
  for (const match of rounds) {
    for (const requirement of security) {
      const pairings = pair(requirement, config, match === undefined ? undefined : auth, match)
      if (pairings?.some((pairing) => pairing !== undefined)) return pairings
    }
  }
  return undefined
}

function pair(
  requirement: SecurityRequirement,
  config: AuthConfig,
  auth: Credential | Secret | undefined,
  match: Match | undefined,
): readonly Pairing[] | undefined {
  const pairings: Pairing[] = []
  let left = auth
  for (const [name, needed] of requirement) {
    const { scheme, scopes } = needed
    const named = getOwn(config.credentials ?? {}, name) as Credential | Secret | undefined
    if (named !== undefined) pairings.push([scheme, named, scopes])
    else if (isOutside(needed)) pairings.push(undefined)
    else if (left !== undefined && match?.(scheme, left) === true) {
      pairings.push([scheme, left, scopes])
      // One secret is never used for two schemes.
      left = undefined
    } else return undefined
  }
  return pairings
}

/** Certificates belong to the connection, which the user's own `fetch` makes. */
function isOutside({ scheme }: { readonly scheme: SecurityScheme }): boolean {
  return scheme.type === "mutualTLS"
}

function hasAny({ auth, credentials }: AuthConfig): boolean {
  return auth !== undefined || Object.keys(credentials ?? {}).length > 0
}

function scopesOf(security: readonly SecurityRequirement[]): readonly string[] {
  return [...new Set(security.flatMap((one) => [...one.values()].flatMap(({ scopes }) => scopes)))]
}

function missingCredentialError(
  security: readonly SecurityRequirement[],
  config: AuthConfig,
  { operationId }: AuthContext,
): CallError {
  const ways = security.map((one) => [...one.keys()].map((name) => `"${name}"`).join(" with "))
  const names = Object.keys(config.credentials ?? {}).map((name) => `"${name}"`)
  const have = names.length === 0 ? "there is only one secret" : `there is only ${names.join(", ")}`
  return new CallError(
    "UNAUTHENTICATED",
    `Operation "${operationId}" needs the credential ${listed(ways)}, but ${have}. Add the missing ones to "credentials", by these names.`,
    { operationId },
  )
}
