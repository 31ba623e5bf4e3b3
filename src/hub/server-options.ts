import type { ApiKeyConfig, ServerConfig } from "../config/model.ts"
import type { ErrorExposure } from "../engine/failures.ts"
import { CallError } from "../core/errors.ts"
import type { AuthOptions } from "../serve/http/auth/options.ts"
import type { RateLimitOptions } from "../serve/accounts.ts"
import { isLoopback } from "../internal/unencrypted.ts"
import type { Clock } from "../internal/platform.ts"
import { sameData } from "../internal/same-data.ts"
import type { Authenticate } from "../serve/authenticate.ts"
import { createAuthenticate } from "../serve/http/auth/authenticator.ts"
import { fill, type Resolve } from "./resolve-references.ts"

/** Default algorithms of an issuer: signatures with a public key. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]

/** The authentication options of a configuration; `undefined` when there is none. */
export async function authOf(
  { apiKeys, jwt }: Pick<ServerConfig, "apiKeys" | "jwt">,
  resolve: Resolve,
): Promise<AuthOptions | undefined> {
  const keys = apiKeys === undefined || apiKeys.length === 0 ? undefined : apiKeys
  if (keys === undefined && jwt === undefined) return undefined
  return {
    apiKeys: keys && (await Promise.all(keys.map((key, index) => keyOf(key, index, resolve)))),
    jwt: jwt && (await jwtOf(jwt, resolve)),
  }
}

/** Converts requests per window to a rate per second and a burst. */
export function rateLimitOf({
  rateLimit,
}: Pick<ServerConfig, "rateLimit">): RateLimitOptions | undefined {
  if (rateLimit === undefined) return undefined
  const { requests, windowMs = 60_000 } = rateLimit
  if (requests === Infinity) return undefined
  return { perSecond: requests / (windowMs / 1000), burst: Math.max(1, requests) }
}

/** Error messages are exposed in full only when the hub is reachable from this machine alone. */
export function exposureOf(
  config: Pick<ServerConfig, "errors" | "host" | "trustedProxies" | "allowedHosts">,
  auth: AuthOptions | undefined,
): ErrorExposure {
  const { errors, host = "127.0.0.1", trustedProxies = [], allowedHosts = [] } = config
  if (errors !== undefined) return errors
  const isOpen = trustedProxies.length > 0 || allowedHosts.length > 0 || !isLoopback(host)
  return isOpen || auth !== undefined ? "hide" : "expose"
}

async function jwtOf(
  jwt: NonNullable<ServerConfig["jwt"]>,
  resolve: Resolve,
): Promise<AuthOptions["jwt"]> {
  const filled = await fill(jwt, resolve, undefined, "server.jwt")
  const { jwksUrl: jwks, algorithms = ALGORITHMS, ...rest } = filled
  return { ...rest, jwks, algorithms }
}

async function keyOf(
  key: ApiKeyConfig,
  index: number,
  resolve: Resolve,
): Promise<NonNullable<AuthOptions["apiKeys"]>[number]> {
  const path = `server.apiKeys[${index}].hash`
  const id = "identity" in key ? key.identity.id : key.id
  const hash = (await fill(key.hash, resolve, undefined, path)).trim()
  // The value is not shown: it may be the key itself.
  if (!/^[0-9a-f]{64}$/i.test(hash)) {
    throw new CallError(
      "VALIDATION_ERROR",
      `${path} (of "${id}") must be 64 hexadecimal digits: the SHA-256 of the key, as "operations hash-key" gives it.`,
      { retryable: false },
    )
  }
  return { ...key, hash }
}

type Keys = NonNullable<AuthOptions["apiKeys"]>

/** How callers of a hub authenticate. Its API keys follow the configuration. */
export class Credentials {
  readonly #clock: Clock
  #auth: AuthOptions
  #current: Authenticate

  constructor(auth: AuthOptions, clock: Clock) {
    this.#clock = clock
    this.#auth = auth
    this.#current = createAuthenticate(auth, clock)
  }

  readonly authenticate: Authenticate = (request) => this.#current(request)

  /**
   * Prepares other API keys; tokens of an issuer stay as they are. The result puts the keys into use, and returns the
   * callers that had one which was removed or changed. Throws a `TypeError` for invalid keys.
   */
  prepare(apiKeys: Keys | undefined): () => ReadonlySet<string> {
    const before = this.#auth.apiKeys ?? []
    if (sameData(before, apiKeys ?? [])) return () => new Set()
    const auth = { ...this.#auth, apiKeys }
    // A hub whose last key was removed rejects all callers, until it is started without authentication.
    const isEmpty = apiKeys === undefined && auth.jwt === undefined
    const next: Authenticate = isEmpty ? () => undefined : createAuthenticate(auth, this.#clock)
    return () => {
      this.#auth = auth
      this.#current = next
      const removed = before.filter((key) => !(apiKeys ?? []).some((kept) => sameData(kept, key)))
      return new Set(removed.map((key) => ("identity" in key ? key.identity.id : key.id)))
    }
  }
}
