import type * as jose from "jose"
import type { CryptoKey as JoseKey, JWTVerifyGetKey } from "jose"
import { CallError } from "../../../core/errors.ts"
import { resolveFetch } from "../../../http-client/public-fetch.ts"
import { MissingPackage } from "../../../internal/import-peer.ts"
import { loadJose } from "../../../internal/jose.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { Identity } from "../../../core/types.ts"
import type { Authenticated } from "../../authenticate.ts"
import { isLoopback } from "../../../internal/unencrypted.ts"
import { halfOf, keyFormOf, type JwkLike } from "../../../internal/jose-keys.ts"
import type { JwtClaims, JwtKey, JwtOptions } from "./options.ts"
import { wallTimeOf } from "../../../internal/clock.ts"

type Jose = typeof jose

interface Loaded {
  readonly jose: Jose
  readonly getKey: JWTVerifyGetKey
}

const MAX_TOKEN = 16_384

/** Resolves signed tokens to identities. */
export class JwtVerifier {
  readonly #options: JwtOptions
  readonly #key: ResolvedKey
  readonly #clock: Clock
  #loaded: Promise<Loaded> | undefined

  constructor(options: JwtOptions, clock: Clock) {
    this.#key = resolveKey(options)
    if (options.audience.length === 0) {
      throw new TypeError("auth.jwt.audience must say who tokens are for: the `aud` of a token.")
    }
    this.#options = options
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
    const toLoaded = (jose: Jose): Loaded => ({
      jose,
      getKey: keyGetter(jose, this.#key, this.#options.blockPrivate === true),
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
function keyGetter(jose: Jose, resolved: ResolvedKey, blockPrivate: boolean): JWTVerifyGetKey {
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
      const find = jose.createRemoteJWKSet(
        resolved.url,
        blockPrivate ? { [jose.customFetch]: resolveFetch({ blockPrivate }) } : {},
      )
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

/** A resolved key: the URL of a key set, or a key. */
type ResolvedKey =
  | { readonly kind: "jwks"; readonly url: URL }
  | { readonly kind: "pem"; readonly text: string; readonly isCertificate: boolean }
  | {
      readonly kind: "key"
      readonly key: Uint8Array | JwkLike | CryptoKey
      readonly isSecret: boolean
    }

const ALGORITHM = /^(?:(?:RS|PS|ES|HS)(?:256|384|512)|EdDSA|Ed25519)$/
const MIN_SECRET = 32

/**
 * Resolves a key and checks that it matches its algorithms; throws a `TypeError` when it does not.
 *
 * If a public key were used as the secret of `HS256`, everyone who knows it could sign tokens.
 */
function resolveKey({ jwks, key, algorithms }: JwtOptions): ResolvedKey {
  const isSymmetric = checkAlgorithms(algorithms)
  if ((jwks === undefined) === (key === undefined)) {
    throw new TypeError("auth.jwt: give either jwks, the address of the keys, or key.")
  }
  if (key === undefined) {
    if (isSymmetric) {
      throw new TypeError("auth.jwt: jwks has public keys; HS algorithms need a secret in key.")
    }
    return { kind: "jwks", url: resolveURL(jwks as string | URL) }
  }
  const resolved = resolveForm(key)
  const isSecret = resolved.kind === "key" && resolved.isSecret
  if (isSymmetric && !isSecret) {
    throw new TypeError(
      "auth.jwt.algorithms: HS algorithms need a secret, and auth.jwt.key is a public key. Name " +
        'the algorithm of the key, such as "RS256".',
    )
  }
  if (!isSymmetric && isSecret) {
    throw new TypeError(
      "auth.jwt.key must be a public key for these algorithms: PEM, a JWK or a CryptoKey.",
    )
  }
  return resolved
}

function checkAlgorithms(algorithms: readonly string[]): boolean {
  if (algorithms.length === 0) {
    throw new TypeError('auth.jwt.algorithms must name what tokens are signed with: ["RS256"].')
  }
  for (const name of algorithms) {
    if (!ALGORITHM.test(name)) {
      throw new TypeError(
        `auth.jwt.algorithms: "${name}" is not an accepted signature algorithm. Use ` +
          "RS256, PS256, ES256, EdDSA, HS256 or a variant of these.",
      )
    }
  }
  const symmetric = algorithms.filter((name) => name.startsWith("HS"))
  if (symmetric.length > 0 && symmetric.length < algorithms.length) {
    throw new TypeError("auth.jwt.algorithms: HS algorithms cannot be mixed with others.")
  }
  return symmetric.length > 0
}

function resolveURL(jwks: string | URL): URL {
  const url = URL.canParse(String(jwks)) ? new URL(String(jwks)) : undefined
  const isSafe =
    url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname))
  if (url === undefined || !isSafe || url.username !== "" || url.password !== "") {
    throw new TypeError(
      "auth.jwt.jwks must be an https address without credentials, such as " +
        "https://issuer.example/.well-known/jwks.json; http is for loopback only.",
    )
  }
  return url
}

function resolveForm(value: JwtKey): ResolvedKey {
  const form = keyFormOf(value)
  const half = form === undefined ? "secret" : halfOf(form)
  const isSecret = half === "secret"
  switch (form?.form) {
    case "pem":
      if (form.label !== "PUBLIC KEY" && form.label !== "CERTIFICATE") break
      return { kind: "pem", text: form.text, isCertificate: form.label === "CERTIFICATE" }
    case "jwk":
      if (half === "private" || (isSecret && !isLongSecret(form.jwk["k"]))) break
      return { kind: "key", key: form.jwk, isSecret }
    case "key":
      if (half !== "public" && !isSecret) break
      return { kind: "key", key: form.key as CryptoKey, isSecret }
    case undefined: {
      const key = secretOf(value)
      if (key === undefined) break
      return { kind: "key", key, isSecret }
    }
  }
  if (half === "private") {
    throw new TypeError("auth.jwt.key is a private key; checking tokens needs the public one only.")
  }
  throw new TypeError(
    "auth.jwt.key must be a PUBLIC KEY or a CERTIFICATE in PEM as text, a JWK, a CryptoKey, or a secret " +
      `of at least ${MIN_SECRET} bytes.`,
  )
}

/** Whether bytes in base64url are enough for a secret. */
function isLongSecret(encoded: unknown): boolean {
  return typeof encoded === "string" && encoded.length >= (MIN_SECRET * 4) / 3
}

/** The bytes of a secret; `undefined` if they are too few, or look like a key of another kind. */
function secretOf(key: JwtKey): Uint8Array | undefined {
  const bytes = typeof key === "string" ? new TextEncoder().encode(key) : key
  if (!(bytes instanceof Uint8Array) || bytes.length < MIN_SECRET) return undefined
  if (new TextDecoder().decode(bytes).includes("-----BEGIN")) return undefined
  const isOther = typeof key === "string" && /^\s*(?:ssh-|ecdsa-|\{)/.test(key)
  return isOther ? undefined : bytes.slice()
}
