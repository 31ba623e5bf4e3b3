import type { JwkLike, JwtKey, JwtOptions } from "./options.ts"
import { isLoopback } from "../../upgrade.ts"

/** A resolved key: the URL of a key set, or a key. */
export type ResolvedKey =
  | { readonly kind: "jwks"; readonly url: URL }
  | { readonly kind: "pem"; readonly text: string; readonly isCertificate: boolean }
  | { readonly kind: "key"; readonly key: Uint8Array | JwkLike | CryptoKey }

const ALGORITHM = /^(?:(?:RS|PS|ES|HS)(?:256|384|512)|EdDSA|Ed25519)$/
const MIN_SECRET = 32

/**
 * Resolves a key and checks that it matches its algorithms; throws a `TypeError` when it does not.
 *
 * If a public key were used as the secret of `HS256`, everyone who knows it could sign tokens.
 */
export function resolveKey({ jwks, key, algorithms }: JwtOptions): ResolvedKey {
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
  const resolved = typeof key === "string" ? resolveTextKey(key) : resolveObjectKey(key)
  const isSecret = resolved.kind === "key" && isSecretKey(resolved.key)
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
  if (!Array.isArray(algorithms) || algorithms.length === 0) {
    throw new TypeError('auth.jwt.algorithms must name what tokens are signed with: ["RS256"].')
  }
  for (const name of algorithms as readonly unknown[]) {
    if (typeof name !== "string" || !ALGORITHM.test(name)) {
      throw new TypeError(
        `auth.jwt.algorithms: "${String(name)}" is not an accepted signature algorithm. Use ` +
          "RS256, PS256, ES256, EdDSA, HS256 or their kin.",
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

function resolveTextKey(key: string): ResolvedKey {
  const text = key.trim()
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) throw privateKey()
  if (text.startsWith("-----BEGIN PUBLIC KEY-----")) {
    return { kind: "pem", text, isCertificate: false }
  }
  if (text.startsWith("-----BEGIN CERTIFICATE-----")) {
    return { kind: "pem", text, isCertificate: true }
  }
  if (text.includes("-----BEGIN") || /^(?:ssh-|ecdsa-|\{)/.test(text)) {
    throw new TypeError(
      "auth.jwt.key: of text, a PUBLIC KEY or a CERTIFICATE in PEM is taken; parse a JWK first.",
    )
  }
  return resolveObjectKey(new TextEncoder().encode(key))
}

function resolveObjectKey(key: Exclude<JwtKey, string>): ResolvedKey {
  if (key instanceof Uint8Array) {
    if (new TextDecoder().decode(key.subarray(0, 64)).includes("-----BEGIN")) {
      throw new TypeError("auth.jwt.key: give a key in PEM as text, not as bytes.")
    }
    if (key.length < MIN_SECRET) {
      throw new TypeError(`auth.jwt.key: a secret needs at least ${MIN_SECRET} bytes.`)
    }
    return { kind: "key", key: key.slice() }
  }
  const { kty, type, d, k } = (key ?? {}) as Partial<Record<string, unknown>>
  if (type === "private" || (typeof kty === "string" && d !== undefined)) throw privateKey()
  if (kty === "oct" && (typeof k !== "string" || k.length < (MIN_SECRET * 4) / 3)) {
    throw new TypeError(`auth.jwt.key: a secret needs at least ${MIN_SECRET} bytes.`)
  }
  if (typeof kty !== "string" && type !== "public" && type !== "secret") {
    throw new TypeError("auth.jwt.key must be PEM text, bytes of a secret, a JWK or a CryptoKey.")
  }
  return { kind: "key", key }
}

function isSecretKey(key: Uint8Array | JwkLike | CryptoKey): boolean {
  if (key instanceof Uint8Array) return true
  const { kty, type } = key as { readonly kty?: unknown; readonly type?: unknown }
  return kty === "oct" || (kty === undefined && type === "secret")
}

function privateKey(): TypeError {
  return new TypeError("auth.jwt.key is a private key; checking tokens needs the public one only.")
}
