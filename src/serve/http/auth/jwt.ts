import { refusal } from "../../../core/errors.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { Authenticated } from "../../authenticate.ts"
import { isLoopback } from "../../../internal/unencrypted.ts"
import { halfOf, keyFormOf } from "../../../internal/jose-keys.ts"
import type { JwtKey, JwtOptions } from "./options.ts"
import type { ResolvedKey, TokenVerifier } from "./verify-jwt.ts"

/** Resolves signed tokens to identities. Its options are checked at once; the rest is loaded with the first token. */
export class JwtVerifier {
  readonly #options: JwtOptions
  readonly #key: ResolvedKey
  readonly #clock: Clock
  #verifier: TokenVerifier | undefined

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
    const { TokenVerifier } = await import("./verify-jwt.ts").catch(notLoaded)
    this.#verifier ??= new TokenVerifier(this.#options, this.#key, this.#clock)
    return await this.#verifier.find(token)
  }
}

/** Throws the error of credentials that cannot be checked, because a part of the library could not be loaded. */
export function notLoaded(cause: unknown): never {
  throw refusal("UNAVAILABLE", "Credentials cannot be checked at the moment.", { cause })
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
