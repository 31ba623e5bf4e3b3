import type { CredentialContext, Identity } from "../../core/types.ts"
import type { CallHeaders } from "../../core/call-headers.ts"

/** A secret, or a function that returns it; called for each request with its caller and operation. */
export type Secret = string | ((context: CredentialContext) => string | Promise<string>)

/** A required secret. `undefined`, as from a variable that is not set, is an error. */
type Given = Secret | undefined

/** How a caller proves who it is to an API. */
export type Credential =
  /** `Authorization: Bearer …`, or another prefix such as `"Bot "`. */
  | { readonly type: "bearer"; readonly token: Given; readonly prefix?: string | undefined }
  /** A key, by default in the header `X-API-Key`; a declared scheme determines its place. */
  | {
      readonly type: "apiKey"
      readonly token: Given
      readonly headerName?: string | undefined
      readonly in?: "header" | "query" | "cookie" | undefined
      readonly prefix?: string | undefined
    }
  /** `token` is `user:password`, plain or in base64. */
  | {
      readonly type: "basic"
      readonly username?: Secret | undefined
      readonly password?: Secret | undefined
      readonly token?: Secret | undefined
    }
  /** OAuth 2 client credentials: a token is fetched, cached while it is valid, and renewed. */
  | {
      readonly type: "clientCredentials"
      readonly clientId: Given
      readonly clientSecret: Given
      /** Default: the document's, if its origin is one that requests may go to. */
      readonly tokenUrl?: string | undefined
      /** Default: those that the operation requires. */
      readonly scopes?: readonly string[] | undefined
      /** How the client sends its secret to the token endpoint: in a header (default) or in the form. */
      readonly authMethod?: "basic" | "body" | undefined
    }

/** Where requests go and what they carry; shared by everything that calls an HTTP API. */
export interface HTTPServiceConfig {
  /** Namespace of the operations. */
  readonly namespace: string
  /** Where requests go. Without it set `servers: "document"`, or calls fail. */
  readonly baseUrl?: string | URL | undefined
  /** Use the servers that the document names. */
  readonly servers?: "document" | undefined
  /** Values for the variables in server URLs. */
  readonly serverVariables?: Readonly<Record<string, string>> | undefined
  /** Other origins that requests may go to, if the document declares servers for single operations. */
  readonly allowedOrigins?: readonly string[] | undefined
  /**
   * Refuse private, loopback and link-local addresses even if `baseUrl` points to one. On Node, and without a
   * custom `fetch`, this includes public names that resolve to one.
   */
  readonly blockPrivate?: boolean | undefined
  /** Sent with each request. Functions are called for each request with its caller and operation. */
  readonly headers?: CallHeaders | undefined
  /**
   * The header that carries the `idempotencyKey` of a call, for an API that runs a request with the same key once. By
   * default `Idempotency-Key`, for operations that declare it. If you set it, calls with a key are repeated after
   * timeouts, too.
   */
  readonly idempotencyHeader?: string | undefined
  /** One credential for all operations that need one; a bare secret is sent as each scheme requires. */
  readonly auth?: Credential | Secret | undefined
  /** Credentials by the name of the security scheme; these come before `auth`. */
  readonly credentials?: Readonly<Record<string, Credential | Secret | undefined>> | undefined
  /**
   * Timeout of a request in milliseconds; replaces the registry's default of 30,000 for calls without their own
   * timeout. Does not apply to streams.
   */
  readonly timeout?: number | undefined
  /** `return` returns a redirect as the response; by default it is followed within its origin. */
  readonly redirect?: "follow" | "return" | undefined
  /**
   * Response headers to include in `meta.headers` although they contain cookies or credentials, such as
   * `set-cookie`; several cookies are separated by a line feed.
   */
  readonly exposeHeaders?: readonly string[] | undefined
  /** `text`: integers beyond 2^53 in responses become strings. By default their last digits are lost, with a warning. */
  readonly bigint?: "text" | undefined
  /** Maximum size of a response in bytes, after decompression; 10 MiB. */
  readonly maxResponseBytes?: number | undefined
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Options that can be overridden for one request. */
export interface RequestOptions extends Omit<Partial<HTTPServiceConfig>, "namespace"> {
  /** The content type of the body, one of the declared ones. */
  readonly contentType?: string | undefined
  /** The caller, for functions that return credentials or headers. */
  readonly identity?: Identity | undefined
  readonly signal?: AbortSignal | undefined
}
