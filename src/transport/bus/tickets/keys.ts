import type * as jose from "jose"
import type { CryptoKey as JoseKey, JWK } from "jose"
import { halfOf, type JwkLike, type KeyForm, keyFormOf } from "../../../internal/jose-keys.ts"

type Jose = typeof jose

/**
 * An Ed25519 key: PEM (PKCS #8 for signing, SPKI for verifying), a JWK or its JSON as text, a `CryptoKey` or a
 * `KeyObject` of Node.
 */
export type TicketKey = string | TicketJwk | CryptoKey | TicketKeyObject

/** A key as JSON. */
export type TicketJwk = JwkLike

/** The shape of a `KeyObject` of `node:crypto`. */
export interface TicketKeyObject {
  readonly type: string
  readonly asymmetricKeyType?: string | undefined
}

/** A key, ready for use. */
export interface LoadedKey {
  readonly key: JoseKey
  /** The `kid` of its JWK. */
  readonly name: string | undefined
  /** The JWK thumbprint of its public half. */
  readonly thumbprint: string | undefined
}

/** The only algorithm; the header of a ticket cannot choose another. */
export const ALGORITHM = "EdDSA"

type Half = "private" | "public"

/**
 * Validates the form of a key; `where` names it in errors. Throws a `TypeError` that contains nothing of the key.
 */
export function validateTicketKey(where: string, value: unknown, half: Half): KeyForm {
  const key = keyFormOf(value)
  switch (key?.form) {
    case "pem":
      if (halfOf(key) !== half) throw wrongHalf(where, half)
      if (key.label !== (half === "private" ? "PRIVATE KEY" : "PUBLIC KEY")) {
        throw new TypeError(
          `${where} is a PEM of "${key.label}", and cannot be read. ${advice(half)}`,
        )
      }
      return key
    case "jwk":
      validateJwk(where, key.jwk, half)
      return key
    case "key":
      validateKeyObject(where, key.key, half)
      return key
    case undefined:
      throw invalidKey(where, half)
  }
}

/** Imports a key into the platform. Rejects with an error that contains nothing of the key. */
export function loadTicketKey(
  jose: Jose,
  where: string,
  validated: KeyForm,
  half: Half,
): Promise<LoadedKey> {
  // The error of a parser may quote a private key.
  return load(jose, validated, half).catch(() => {
    throw invalidKey(where, half)
  })
}

async function load(jose: Jose, validated: KeyForm, half: Half): Promise<LoadedKey> {
  if (validated.form === "key") {
    const key = validated.key as JoseKey
    // A key that is not extractable has no thumbprint; verifiers then try all of their keys.
    const exported = await jose.exportJWK(key).catch(() => undefined)
    const thumbprint = exported === undefined ? undefined : await thumbprintOf(jose, exported)
    return { key, name: undefined, thumbprint }
  }
  const { kty, crv, x, d, kid } =
    validated.form === "jwk" ? (validated.jwk as JWK) : await jwkOf(jose, validated.text, half)
  const jwk: JWK = { kty: kty as string, crv: crv as string, x: x as string }
  const whole = half === "private" ? { ...jwk, d: d as string } : jwk
  const key = (await jose.importJWK(whole, ALGORITHM)) as JoseKey
  return { key, name: kid, thumbprint: await thumbprintOf(jose, jwk) }
}

async function jwkOf(jose: Jose, pem: string, half: Half): Promise<JWK> {
  const read = half === "private" ? jose.importPKCS8 : jose.importSPKI
  return await jose.exportJWK(await read(pem, ALGORITHM, { extractable: true }))
}

async function thumbprintOf(jose: Jose, { kty, crv, x }: JWK): Promise<string> {
  const open = { kty: kty as string, crv: crv as string, x: x as string }
  return await jose.calculateJwkThumbprint(open)
}

// 32 bytes in base64url.
const BYTES = /^[A-Za-z0-9_-]{43}$/

function validateJwk(where: string, jwk: JwkLike, half: Half): void {
  const { kty, crv, x, d, kid } = jwk as Readonly<Record<string, unknown>>
  if (kty !== "OKP" || crv !== "Ed25519" || !isBytes(x)) throw invalidKey(where, half)
  if ((d !== undefined) !== (half === "private")) throw wrongHalf(where, half)
  if (d !== undefined && !isBytes(d)) throw invalidKey(where, half)
  if (kid !== undefined && typeof kid !== "string") {
    throw new TypeError(`${where}: the "kid" of a JWK must be text.`)
  }
}

function isBytes(value: unknown): boolean {
  return typeof value === "string" && BYTES.test(value)
}

function validateKeyObject(where: string, key: object, half: Half): void {
  const { type, algorithm, asymmetricKeyType } = key as {
    readonly type?: unknown
    readonly algorithm?: { readonly name?: unknown } | undefined
    readonly asymmetricKeyType?: unknown
  }
  const isOurs = algorithm?.name === "Ed25519" || asymmetricKeyType === "ed25519"
  if (!isOurs || (type !== "private" && type !== "public")) throw invalidKey(where, half)
  if (type !== half) throw wrongHalf(where, half)
}

function invalidKey(where: string, half: Half): TypeError {
  return new TypeError(`${where} is not a ${half} Ed25519 key. ${advice(half)}`)
}

function wrongHalf(where: string, half: Half): TypeError {
  return half === "private"
    ? new TypeError(`${where} is a public key; signing needs the private one.`)
    : new TypeError(`${where} is a private key; verifying needs only the public one.`)
}

function advice(half: Half): string {
  const [form, how] =
    half === "private"
      ? ["PKCS #8", "openssl genpkey -algorithm ed25519"]
      : ["SPKI", "openssl pkey -in private.pem -pubout"]
  return `Give PEM (${form}: ${how}), a JWK, a CryptoKey or a KeyObject.`
}
