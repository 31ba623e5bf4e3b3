import type { Identity } from "../../../core/types.ts"
import { checkOption } from "../../../internal/options.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { Authenticate, Authenticated } from "../../authenticate.ts"
import { readCredential, type UpgradeRequestLike } from "../../upgrade.ts"
import { JwtVerifier, notLoaded } from "./jwt.ts"
import { AUTH_OPTIONS, type ApiKey, type AuthOptions, type NamedApiKey } from "./options.ts"
import type * as HashModule from "../../../internal/sha256.ts"

type Result = Authenticated | null | undefined

/**
 * Combines API keys, tokens and `authenticate` into one function.
 *
 * Answers synchronously when an API key decides that is not the first one. Throws a `TypeError` for invalid options.
 */
export function createAuthenticate(auth: AuthOptions, clock: Clock): Authenticate {
  const fail = (path: string, message: string): Error => new TypeError(`${path} ${message}`)
  // Again, for hubs: their values come from references in files.
  checkOption({ path: "auth", isOpen: true, fail }, { members: AUTH_OPTIONS }, auth)
  const { apiKeys, jwt, authenticate, anonymous = false } = auth
  if (apiKeys === undefined && jwt === undefined && authenticate === undefined) {
    throw new TypeError("auth must have at least one of apiKeys, jwt and authenticate.")
  }
  const keys = apiKeys === undefined ? undefined : new ApiKeys(apiKeys)
  const tokens = jwt === undefined ? undefined : new JwtVerifier(jwt, clock)

  return (request: UpgradeRequestLike): Result | Promise<Result> => {
    const credential = readCredential(request)
    if (!credential.isPresent) {
      const result = authenticate?.(request)
      if (!anonymous) return result
      return result instanceof Promise
        ? result.then((identity) => identity ?? null)
        : (result ?? null)
    }
    const { apiKey, bearer } = credential
    const others = (): Result | Promise<Result> => {
      if (tokens !== undefined && apiKey === undefined && isTokenLike(bearer)) {
        if (authenticate === undefined) return tokens.find(bearer)
        return findOrAsk(tokens, bearer, () => authenticate(request))
      }
      return authenticate?.(request)
    }
    // A key in its own header decides alone: two credentials are never combined.
    const identity = keys?.find(apiKey ?? bearer ?? "")
    return identity instanceof Promise
      ? identity.then((found) => found ?? others())
      : (identity ?? others())
  }
}

/** Verifies a token. A token that is not accepted may be known to `authenticate`; an outage decides alone. */
async function findOrAsk(
  tokens: JwtVerifier,
  bearer: string,
  ask: () => Result | Promise<Result>,
): Promise<Result> {
  let identity: Authenticated | undefined
  try {
    identity = await tokens.find(bearer)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "UNAVAILABLE") throw error
  }
  return identity ?? (await ask())
}

function isTokenLike(bearer: string | undefined): bearer is string {
  return bearer !== undefined && bearer.split(".", 4).length === 3
}

const MAX_KEY = 4096

let hashing: typeof HashModule | undefined

/**
 * Finds identities by keys.
 *
 * Keys are looked up by hash: the time this takes depends on hashes, which callers cannot choose,
 * and reveals nothing about keys.
 */
class ApiKeys {
  readonly #identities = new Map<string, Identity>()
  /** Cache of accepted keys, bounded by their number: hashing costs as much as a small request. */
  readonly #accepted = new Map<string, Identity>()

  constructor(keys: readonly (ApiKey | NamedApiKey)[]) {
    if (keys.length === 0) {
      throw new TypeError("auth.apiKeys must list at least one { hash, identity }.")
    }
    for (const [index, entry] of keys.entries()) this.#add(index, entry)
  }

  /** A promise for the first key, with which the hash function is loaded. */
  find(key: string): Identity | undefined | Promise<Identity | undefined> {
    if (key === "" || key.length > MAX_KEY) return undefined
    const accepted = this.#accepted.get(key)
    if (accepted !== undefined) return accepted
    if (hashing === undefined) return this.#findFirst(key)
    const identity = this.#identities.get(hashing.sha256Hex(key))
    if (identity !== undefined) this.#accepted.set(key, identity)
    return identity
  }

  async #findFirst(key: string): Promise<Identity | undefined> {
    hashing ??= await import("../../../internal/sha256.ts").catch(notLoaded)
    return this.find(key)
  }

  // The entry is never shown: the value in place of the hash may be the key itself.
  #add(index: number, entry: { readonly hash: string } & Partial<ApiKey & NamedApiKey>): void {
    const { hash, id, scopes } = entry
    const identity = entry.identity ?? (id === undefined ? undefined : { id, scopes: scopes ?? [] })
    if (!/^[0-9a-f]{64}$/i.test(hash)) {
      throw new TypeError(
        `auth.apiKeys[${index}].hash must be 64 hexadecimal digits: what "operations hash-key" or hashApiKey(key) gives.`,
      )
    }
    if (identity === undefined) {
      throw new TypeError(`auth.apiKeys[${index}].identity must be { id, scopes }.`)
    }
    if (entry.identity !== undefined && (id !== undefined || scopes !== undefined)) {
      throw new TypeError(
        `auth.apiKeys[${index}]: give either identity, or id and scopes in short; not both.`,
      )
    }
    const digest = hash.toLowerCase()
    if (this.#identities.has(digest)) {
      throw new TypeError(
        `auth.apiKeys[${index}].hash appears twice: give each caller its own key.`,
      )
    }
    this.#identities.set(digest, identity)
  }
}
