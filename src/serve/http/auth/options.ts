import { IDENTITY } from "../../../internal/options.ts"
import type { OptionsSchema } from "../../../internal/options.ts"
import type { Identity } from "../../../core/types.ts"
import type { Authenticate } from "../../gate.ts"

/** How callers prove who they are. At least one of `apiKeys`, `jwt` and `authenticate`. */
export interface AuthOptions {
  /** Keys, sent as `X-API-Key` or as a bearer token. */
  readonly apiKeys?: readonly (ApiKey | NamedApiKey)[] | undefined
  /** Bearer tokens of an issuer. Needs the package `jose`. */
  readonly jwt?: JwtOptions | undefined
  /** Asked about everyone whom neither `apiKeys` nor `jwt` knows. */
  readonly authenticate?: Authenticate | undefined
  /** Callers without any credential are nobody in particular, rather than refused. */
  readonly anonymous?: boolean | undefined
}

/** A key that is known by its hash only. */
export interface ApiKey {
  /** What `operations hash-key` or `hashApiKey` gives for the key: its SHA-256, 64 hexadecimal digits. */
  readonly hash: string
  readonly identity: Identity
}

/** The same in short: `identity: { id, scopes }`. */
export interface NamedApiKey {
  readonly hash: string
  readonly id: string
  /** None, when left out. */
  readonly scopes?: readonly string[] | undefined
}

/** Which tokens are taken. Tokens without `exp` never are. */
export interface JwtOptions {
  /** Where the issuer publishes its keys. Either this or `key`. */
  readonly jwks?: string | URL | undefined
  /** The keys are not loaded from private addresses, also where a public name leads to one. */
  readonly blockPrivate?: boolean | undefined
  /** A public key or certificate; for `HS256` and its kin a secret of at least 32 bytes. */
  readonly key?: JwtKey | undefined
  readonly issuer: string
  /** Who tokens have to be for: this API. */
  readonly audience: string | readonly string[]
  /** Such as `["RS256"]`; what a token says about itself does not count. */
  readonly algorithms: readonly string[]
  /** Who a token stands for; `undefined` refuses. `sub` and `scope` (or `scp`), when left out. */
  readonly identity?:
    | ((claims: JwtClaims) => Identity | undefined | Promise<Identity | undefined>)
    | undefined
  /** Seconds by which clocks may differ: 5. */
  readonly clockTolerance?: number | undefined
}

/** PEM or secret as text, bytes of a secret, a JWK, or a key of the platform. */
export type JwtKey = string | Uint8Array | JwkLike | CryptoKey

/** A key as JSON. */
export interface JwkLike {
  readonly kty: string
  readonly [name: string]: unknown
}

/** What a verified token says. */
export type JwtClaims = Readonly<Record<string, unknown>>

export const API_KEY: OptionsSchema<ApiKey & NamedApiKey> = {
  hash: { required: { secret: "text" } },
  identity: IDENTITY,
  id: "text",
  scopes: { list: "string" },
}

const JWT_OPTIONS: OptionsSchema<JwtOptions> = {
  jwks: "url",
  blockPrivate: "boolean",
  key: { secret: { either: ["text", { methods: [], expected: "bytes, a JWK or a CryptoKey" }] } },
  issuer: { required: "text" },
  audience: { required: { either: ["text", { list: "text" }] } },
  algorithms: { required: { list: "text" } },
  identity: "function",
  clockTolerance: { min: 0, max: 300 },
}

export const AUTH_OPTIONS: OptionsSchema<AuthOptions> = {
  apiKeys: { list: { members: API_KEY } },
  jwt: { members: JWT_OPTIONS },
  authenticate: "function",
  anonymous: "boolean",
}
