import type * as jose from "jose"
import type { CryptoKey as JoseKey, JWTVerifyGetKey } from "jose"
import { CallError } from "../../../core/errors.ts"
import { MissingPackage } from "../../../internal/import-peer.ts"
import type { JwkLike } from "../../../internal/jose-keys.ts"
import { loadJose } from "../../../internal/jose.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { Identity } from "../../../core/types.ts"
import type { Authenticated } from "../../authenticate.ts"
import type { JwtClaims, JwtOptions } from "./options.ts"
import { wallTimeOf } from "../../../internal/clock.ts"

type Jose = typeof jose

interface Loaded {
  readonly jose: Jose
  readonly getKey: JWTVerifyGetKey
}

/** A resolved key: the URL of a key set, or a key. */
export type ResolvedKey =
  | { readonly kind: "jwks"; readonly url: URL }
  | { readonly kind: "pem"; readonly text: string; readonly isCertificate: boolean }
  | {
      readonly kind: "key"
      readonly key: Uint8Array | JwkLike | CryptoKey
      readonly isSecret: boolean
    }

const MAX_TOKEN = 16_384

/** Resolves signed tokens to identities, with options that have been checked. */
export class TokenVerifier {
  readonly #options: JwtOptions
  readonly #key: ResolvedKey
  readonly #clock: Clock
  #loaded: Promise<Loaded> | undefined

  constructor(options: JwtOptions, key: ResolvedKey, clock: Clock) {
    this.#options = options
    this.#key = key
    this.#clock = clock
  }

  /**
   * The identity of a token; `undefined` when the token has none.
   *
   * Rejects when a token is not accepted, and with `UNAVAILABLE` when no key can be loaded.
   */
  async find(token: string): Promise<Authenticated | undefined> {
    if (token.length > MAX_TOKEN) throw new Error("the token is too long")
    const { jose: library, getKey } = await this.#load()
    const { issuer, audience, algorithms, clockTolerance = 5, identity } = this.#options
    const now = wallTimeOf(this.#clock)
    const { payload } = await library.jwtVerify(token, getKey, {
      issuer,
      audience: typeof audience === "string" ? audience : [...audience],
      algorithms: [...algorithms],
      clockTolerance,
      requiredClaims: ["exp"],
      currentDate: new Date(now),
    })
    const authenticated = identity === undefined ? identityOf(payload) : await identity(payload)
    if (typeof authenticated !== "object" || authenticated === null) return authenticated
    // A token accepted after its expiry is valid for the clock tolerance.
    const end = (payload.exp as number) * 1000
    return { ...authenticated, expiresAt: end > now ? end : end + clockTolerance * 1000 }
  }

  #load(): Promise<Loaded> {
    const toLoaded = async (jose: Jose): Promise<Loaded> => ({
      jose,
      getKey: await keyGetter(jose, this.#key, this.#options.blockPrivate === true),
    })
    this.#loaded ??= loadJose("auth.jwt")
      .then(toLoaded)
      .catch((error: unknown) => {
        this.#loaded = undefined
        throw unavailable(error)
      })
    return this.#loaded
  }
}

/** The function that `jose` calls for keys; it has checked the algorithm before. */
async function keyGetter(
  jose: Jose,
  resolved: ResolvedKey,
  blockPrivate: boolean,
): Promise<JWTVerifyGetKey> {
  switch (resolved.kind) {
    case "key":
      return () => resolved.key
    case "pem": {
      // A `CryptoKey` is for one algorithm.
      const keys = new Map<string, Promise<JoseKey>>()
      const load = resolved.isCertificate ? jose.importX509 : jose.importSPKI
      return async ({ alg }) => {
        const key = keys.get(alg) ?? load(resolved.text, alg)
        keys.set(alg, key)
        return await key.catch((error: unknown) => Promise.reject(unavailable(error)))
      }
    }
    case "jwks": {
      let own = {}
      if (blockPrivate) {
        const { resolveFetch } = await import("../../../http-client/public-fetch.ts")
        own = { [jose.customFetch]: resolveFetch({ blockPrivate }) }
      }
      const find = jose.createRemoteJWKSet(resolved.url, own)
      return async (header, token) => {
        try {
          return await find(header, token)
        } catch (error) {
          throw isAboutToken(error) ? error : unavailable(error)
        }
      }
    }
  }
}

/** Whether the key set was loaded and has no key for the token. */
function isAboutToken(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return (
    code === "ERR_JWKS_NO_MATCHING_KEY" ||
    code === "ERR_JWKS_MULTIPLE_MATCHING_KEYS" ||
    code === "ERR_JOSE_NOT_SUPPORTED"
  )
}

function unavailable(cause: unknown): CallError {
  if (cause instanceof MissingPackage) {
    const message = `Tokens cannot be checked: ${cause.message}`
    return new CallError("UNAVAILABLE", message, { cause, retryable: false })
  }
  const message = "Tokens cannot be checked at the moment: there is no key to check them with."
  return new CallError("UNAVAILABLE", message, { cause, retryAfterMs: 5000 })
}

function identityOf(claims: JwtClaims): Identity | undefined {
  const { sub, scope, scp } = claims
  if (typeof sub !== "string" || sub === "") return undefined
  const granted = scope ?? scp
  if (typeof granted === "string") return { id: sub, scopes: granted.split(" ").filter(Boolean) }
  const list: readonly unknown[] = Array.isArray(granted) ? granted : []
  return { id: sub, scopes: list.filter((entry) => typeof entry === "string") }
}
