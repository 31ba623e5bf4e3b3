import type * as jose from "jose"
import type { CryptoKey as JoseKey, JWK } from "jose"

type Jose = typeof jose

/**
 * An Ed25519 key: PEM (PKCS #8 for signing, SPKI for checking), a JWK or its JSON as text, a `CryptoKey` or a
 * `KeyObject` of Node.
 */
export type TicketKey = string | TicketJwk | CryptoKey | TicketKeyObject

/** A key as JSON. */
export interface TicketJwk {
  readonly kty: string
  readonly [name: string]: unknown
}

/** What a `KeyObject` of `node:crypto` is known by. */
export interface TicketKeyObject {
  readonly type: string
  readonly asymmetricKeyType?: string | undefined
}

/** A key that looks right; whether it is one shows when it is loaded. */
export type SettledKey =
  | { readonly form: "pem"; readonly text: string }
  | { readonly form: "jwk"; readonly jwk: TicketJwk }
  | { readonly form: "key"; readonly key: CryptoKey | TicketKeyObject }

/** A key, ready for use. */
export interface LoadedKey {
  readonly key: JoseKey
  /** What it calls itself. */
  readonly name: string | undefined
  /** What everybody can call it by who has the public half. */
  readonly thumbprint: string | undefined
}

/** The one algorithm: what a ticket says about itself does not count. */
export const ALGORITHM = "EdDSA"

type Half = "private" | "public"

/**
 * Checks what is to be a key; `where` names it. Throws a `TypeError` that never shows anything of it.
 */
export function settleTicketKey(where: string, key: unknown, half: Half): SettledKey {
  if (typeof key === "string") return settleText(where, key, half)
  if (typeof key !== "object" || key === null) throw noKey(where, half)
  return typeof (key as { readonly kty?: unknown }).kty === "string"
    ? settleJwk(where, key as TicketJwk, half)
    : settleObject(where, key, half)
}

/** Makes a key of the platform. Rejects with an error that never shows anything of it. */
export async function loadTicketKey(
  jose: Jose,
  where: string,
  settled: SettledKey,
  half: Half,
): Promise<LoadedKey> {
  try {
    return await load(jose, settled, half)
  } catch {
    // What a parser says of a private key may quote it.
    throw noKey(where, half)
  }
}

async function load(jose: Jose, settled: SettledKey, half: Half): Promise<LoadedKey> {
  switch (settled.form) {
    case "pem": {
      const read = half === "private" ? jose.importPKCS8 : jose.importSPKI
      const shown = await jose.exportJWK(await read(settled.text, ALGORITHM, { extractable: true }))
      const key = await read(settled.text, ALGORITHM)
      return { key, name: undefined, thumbprint: await thumbprintOf(jose, shown) }
    }
    case "jwk": {
      const { kty, crv, x, d, kid } = settled.jwk as JWK
      const jwk: JWK = { kty: kty as string, crv: crv as string, x: x as string }
      const key = await jose.importJWK(
        half === "private" ? { ...jwk, d: d as string } : jwk,
        ALGORITHM,
      )
      return { key: key as JoseKey, name: kid, thumbprint: await thumbprintOf(jose, jwk) }
    }
    case "key": {
      const key = settled.key as JoseKey
      // One that must not leave the platform has no name; those who check try all they have.
      const shown = await jose.exportJWK(key).catch(() => undefined)
      const thumbprint = shown === undefined ? undefined : await thumbprintOf(jose, shown)
      return { key, name: undefined, thumbprint }
    }
  }
}

async function thumbprintOf(jose: Jose, { kty, crv, x }: JWK): Promise<string> {
  const open = { kty: kty as string, crv: crv as string, x: x as string }
  return await jose.calculateJwkThumbprint(open)
}

function settleText(where: string, given: string, half: Half): SettledKey {
  // Variables of the environment often hold a PEM on one line.
  const text = given.replaceAll(String.raw`\n`, "\n").trim()
  if (text.startsWith("{")) return settleJwk(where, parsed(where, text, half), half)
  const [, kind] = /^-----BEGIN ([A-Z0-9 ]+)-----/.exec(text) ?? []
  if (kind === undefined) throw noKey(where, half)
  const isPrivate = kind.endsWith("PRIVATE KEY")
  if (isPrivate !== (half === "private")) throw wrongHalf(where, half)
  if (kind !== (isPrivate ? "PRIVATE KEY" : "PUBLIC KEY")) {
    throw new TypeError(`${where} is a PEM of "${kind}", and cannot be read. ${cure(half)}`)
  }
  return { form: "pem", text }
}

function parsed(where: string, text: string, half: Half): TicketJwk {
  let jwk: unknown
  try {
    jwk = JSON.parse(text)
  } catch {
    throw noKey(where, half)
  }
  if (typeof (jwk as Partial<TicketJwk> | null)?.kty !== "string") throw noKey(where, half)
  return jwk as TicketJwk
}

// 32 bytes in base64url.
const BYTES = /^[A-Za-z0-9_-]{43}$/

function settleJwk(where: string, jwk: TicketJwk, half: Half): SettledKey {
  const { kty, crv, x, d, kid } = jwk as Readonly<Record<string, unknown>>
  if (kty !== "OKP" || crv !== "Ed25519" || !isBytes(x)) throw noKey(where, half)
  if ((d !== undefined) !== (half === "private")) throw wrongHalf(where, half)
  if (d !== undefined && !isBytes(d)) throw noKey(where, half)
  if (kid !== undefined && typeof kid !== "string") {
    throw new TypeError(`${where}: the "kid" of a JWK must be text.`)
  }
  // A copy: what its owner changes later is another key.
  return { form: "jwk", jwk: { ...jwk } }
}

function isBytes(value: unknown): boolean {
  return typeof value === "string" && BYTES.test(value)
}

function settleObject(where: string, key: object, half: Half): SettledKey {
  const { type, algorithm, asymmetricKeyType } = key as {
    readonly type?: unknown
    readonly algorithm?: { readonly name?: unknown } | undefined
    readonly asymmetricKeyType?: unknown
  }
  const isOurs = algorithm?.name === "Ed25519" || asymmetricKeyType === "ed25519"
  if (!isOurs || (type !== "private" && type !== "public")) throw noKey(where, half)
  if (type !== half) throw wrongHalf(where, half)
  return { form: "key", key: key as CryptoKey | TicketKeyObject }
}

function noKey(where: string, half: Half): TypeError {
  return new TypeError(`${where} is no ${half} Ed25519 key. ${cure(half)}`)
}

function wrongHalf(where: string, half: Half): TypeError {
  return half === "private"
    ? new TypeError(`${where} is a public key; signing needs the private one.`)
    : new TypeError(`${where} is a private key; checking needs the public one only.`)
}

function cure(half: Half): string {
  const [form, how] =
    half === "private"
      ? ["PKCS #8", "openssl genpkey -algorithm ed25519"]
      : ["SPKI", "openssl pkey -in private.pem -pubout"]
  return `Give PEM (${form}: ${how}), a JWK, a CryptoKey or a KeyObject.`
}
