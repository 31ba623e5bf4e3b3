import type { Identity } from "../../core/types.ts"
import type { CallHeaders } from "../../core/call-headers.ts"
import type { CredentialContext } from "../../core/types.ts"

/** A secret, or a function that returns it: called for each request, with who calls what. */
export type Secret = string | ((context: CredentialContext) => string | Promise<string>)

/** A secret that has to be there, and may come from a variable that is not set: that is an error then. */
type Given = Secret | undefined

/** How a caller proves who it is to an API. */
export type Credential =
  /** `Authorization: Bearer …`, or another prefix such as `"Bot "`. */
  | { readonly type: "bearer"; readonly token: Given; readonly prefix?: string | undefined }
  /** A key, by default in the header `X-API-Key`; a declared scheme says where by itself. */
  | {
      readonly type: "apiKey"
      readonly token: Given
      readonly headerName?: string | undefined
      readonly in?: "header" | "query" | "cookie" | undefined
      readonly prefix?: string | undefined
    }
  /** `token` is `user:password` in one piece, as it is or already in base64. */
  | {
      readonly type: "basic"
      readonly username?: Secret | undefined
      readonly password?: Secret | undefined
      readonly token?: Secret | undefined
    }
  /** OAuth 2 client credentials: a token is fetched, kept while it is good, and renewed. */
  | {
      readonly type: "clientCredentials"
      readonly clientId: Given
      readonly clientSecret: Given
      /** Default: the document's, if its origin is one that requests may go to. */
      readonly tokenUrl?: string | undefined
      /** Default: those the operation asks for. */
      readonly scopes?: readonly string[] | undefined
      /** How the client shows its secret to the token endpoint: in a header (default) or in the form. */
      readonly authMethod?: "basic" | "body" | undefined
    }

/** Where requests go and what may be sent along; shared by everything that calls an HTTP API. */
export interface HTTPServiceConfig {
  /** Namespace of the operations. */
  readonly namespace: string
  /** Where requests go. Without it say `servers: "document"`, or calls fail. */
  readonly baseUrl?: string | URL | undefined
  /** Use the servers that the document names. */
  readonly servers?: "document" | undefined
  /** Values for the variables in server URLs. */
  readonly serverVariables?: Readonly<Record<string, string>> | undefined
  /** Other origins that operations may go to, when the document gives them servers of their own. */
  readonly allowedOrigins?: readonly string[] | undefined
  /**
   * Refuse private, loopback and link-local addresses even where `baseUrl` points to one. On Node, and
   * without a `fetch` of your own, also those that a public name resolves to when it is connected to.
   */
  readonly blockPrivate?: boolean | undefined
  /** Sent with each request. Functions are called for each, with who calls what. */
  readonly headers?: CallHeaders | undefined
  /** One credential for all operations that need one; a bare secret is used as each scheme says. */
  readonly auth?: Credential | Secret | undefined
  /** Credentials by the name of the security scheme; these come before `auth`. */
  readonly credentials?: Readonly<Record<string, Credential | Secret | undefined>> | undefined
  /**
   * Milliseconds that a request may take; calls whose caller does not say have these instead of the
   * registry's default of 30,000. Not for streams.
   */
  readonly timeout?: number | undefined
  /** `return` gives a redirect as the answer it is; by default it is followed within its origin. */
  readonly redirect?: "follow" | "return" | undefined
  /**
   * Response headers that `meta.headers` has although they hold cookies or credentials, such as
   * `set-cookie`; several cookies are separated by a line feed.
   */
  readonly exposeHeaders?: readonly string[] | undefined
  /** `text`: integers beyond 2^53 in responses are given as strings. By default their last digits are lost, with a warning. */
  readonly bigint?: "text" | undefined
  /** Bytes that are read of a response, after decompression; 10 MiB. */
  readonly maxResponseBytes?: number | undefined
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** What may be said anew for one request. */
export interface RequestOptions extends Omit<Partial<HTTPServiceConfig>, "namespace"> {
  /** Which of the declared content types a body has. */
  readonly contentType?: string | undefined
  /** Who calls, for functions that return credentials or headers. */
  readonly identity?: Identity | undefined
  readonly signal?: AbortSignal | undefined
}
