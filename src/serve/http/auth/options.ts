import type { JwkLike } from "../../../internal/jose-keys.ts"
import { IDENTITY, type OptionsSchema } from "../../../internal/options.ts"
import type { Identity } from "../../../core/types.ts"
import type { Authenticate } from "../../authenticate.ts"

export type { JwkLike } from "../../../internal/jose-keys.ts"

/** How callers authenticate. Give at least one of `apiKeys`, `jwt` and `authenticate`. */
export interface AuthOptions {
  /** API keys, sent as `X-API-Key` or as a bearer token. */
  readonly apiKeys?: readonly (ApiKey | NamedApiKey)[] | undefined
  /** Bearer tokens of an issuer. This needs the package `jose`. */
  readonly jwt?: JwtOptions | undefined
  /** Called for every request that neither `apiKeys` nor `jwt` can identify. */
  readonly authenticate?: Authenticate | undefined
  /** Callers without credentials are anonymous instead of refused. */
  readonly anonymous?: boolean | undefined
}

/** An API key, stored as its hash. */
export interface ApiKey {
  /** The output of `operations hash-key` or `hashApiKey`: the SHA-256 of the key, 64 hexadecimal digits. */
  readonly hash: string
  readonly identity: Identity
}

/** Short form of an API key with `identity: { id, scopes }`. */
export interface NamedApiKey {
  readonly hash: string
  readonly id: string
  /** Default: none. */
  readonly scopes?: readonly string[] | undefined
}

/** Which tokens are accepted. Tokens without `exp` never are. */
export interface JwtOptions {
  /** URL of the issuer's key set. Give either this or `key`. */
  readonly jwks?: string | URL | undefined
  /** Refuses to load keys from private addresses, also when a public name resolves to one. */
  readonly blockPrivate?: boolean | undefined
  /** A public key or certificate; for `HS256` and similar a secret of at least 32 bytes. */
  readonly key?: JwtKey | undefined
  readonly issuer: string
  /** Audience that tokens must have: this API. */
  readonly audience: string | readonly string[]
  /** Such as `["RS256"]`; the token's own claim about its algorithm does not count. */
  readonly algorithms: readonly string[]
  /** Maps claims to an identity; `undefined` refuses. Default: `sub` and `scope` (or `scp`). */
  readonly identity?:
    | ((claims: JwtClaims) => Identity | undefined | Promise<Identity | undefined>)
    | undefined
  /** Seconds by which clocks may differ; default: 5. */
  readonly clockTolerance?: number | undefined
}

/** PEM or secret as text, bytes of a secret, a JWK, or a `CryptoKey`. */
export type JwtKey = string | Uint8Array | JwkLike | CryptoKey

/** Claims of a verified token. */
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
