import type { ReconnectPolicy } from "../../http-client/reconnect.ts"
import { CALL_HEADERS } from "../../core/call-headers.ts"
import { HEADERS, type HeadersLike } from "../../internal/headers.ts"
import { IDENTITY, validateOptions } from "../../internal/options.ts"
import type { OptionRule, OptionsSchema } from "../../internal/options.ts"
import type { Credential, HTTPServiceConfig, RequestOptions } from "./config.ts"
import type { ImportConfig } from "./import.ts"

/** How a document is imported, and how its operations are called. */
export interface OpenAPIConfig extends ImportConfig {
  /** Reopen lost event streams after the last event; by default they end. */
  readonly reconnect?: ReconnectPolicy | boolean | undefined
  /** Maximum size of the document; 64 MiB. The limit for all referenced files together is at least 64 MiB. */
  readonly maxDocumentBytes?: number | undefined
  /** Maximum number of referenced files; 10,000. */
  readonly maxFiles?: number | undefined
  /** Additional targets of references: folders, files, or http(s) addresses. */
  readonly allowedReferences?: readonly (string | URL)[] | undefined
  /** The address of a document that is passed as an object or text; the base of relative servers. */
  readonly documentUrl?: string | undefined
}

/** Options of loading a document from a URL. */
export interface OpenAPIUrlConfig extends OpenAPIConfig {
  /** Sent when the document is loaded, and nowhere else. */
  readonly documentHeaders?: HeadersLike | undefined
  /** Allow `documentHeaders` over plain http to another machine: for private networks. */
  readonly insecure?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

const SECRET: OptionRule = { secret: { either: ["text", "function"] } }
const REQUIRED: OptionRule = { required: SECRET }

type Members<TType> = OptionsSchema<Omit<Extract<Credential, { readonly type: TType }>, "type">>

const CREDENTIAL: OptionRule = {
  either: [
    SECRET,
    {
      variants: {
        bearer: { token: REQUIRED, prefix: "string" } satisfies Members<"bearer">,
        apiKey: {
          token: REQUIRED,
          headerName: "text",
          in: { oneOf: ["header", "query", "cookie"] },
          prefix: "string",
        } satisfies Members<"apiKey">,
        basic: { username: SECRET, password: SECRET, token: SECRET } satisfies Members<"basic">,
        clientCredentials: {
          clientId: REQUIRED,
          clientSecret: REQUIRED,
          tokenUrl: "text",
          scopes: { list: "text" },
          authMethod: { oneOf: ["basic", "body"] },
        } satisfies Members<"clientCredentials">,
      },
    },
  ],
}

/** A URL, or a text that is parsed later. */
const ADDRESS: OptionRule = { either: ["text", { methods: ["toJSON"], expected: "a URL" }] }

const HTTP_SERVICE_OPTIONS: OptionsSchema<Omit<HTTPServiceConfig, "namespace">> = {
  baseUrl: ADDRESS,
  servers: { oneOf: ["document"] },
  serverVariables: { record: "string" },
  allowedOrigins: { list: "text" },
  blockPrivate: "boolean",
  headers: CALL_HEADERS,
  idempotencyHeader: "text",
  auth: CREDENTIAL,
  credentials: { record: { required: CREDENTIAL } },
  timeout: "duration",
  redirect: { oneOf: ["follow", "return"] },
  exposeHeaders: { list: "text" },
  bigint: { oneOf: ["text"] },
  maxResponseBytes: "count",
  fetch: "function",
}

export const OPENAPI_OPTIONS: OptionsSchema<OpenAPIConfig> = {
  namespace: {
    required: {
      pattern: /^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$/,
      expected: 'letters, digits, "_" and "-"',
    },
  },
  ...HTTP_SERVICE_OPTIONS,
  filter: "function",
  flatten: "boolean",
  contentType: "text",
  normalize: { oneOf: ["strip", "keep", "off"] },
  output: { oneOf: ["warn", "strict", "off"] },
  input: { oneOf: ["warn", "strict"] },
  reconnect: {
    either: [
      "boolean",
      {
        members: {
          maxAttempts: { required: "count" },
          delayMs: { required: { min: 0 } },
          maxDelayMs: { required: { min: 0 } },
        } satisfies OptionsSchema<ReconnectPolicy>,
      },
    ],
  },
  maxDocumentBytes: "count",
  maxFiles: "count",
  allowedReferences: { list: ADDRESS },
  documentUrl: "text",
}

export const OPENAPI_URL_OPTIONS: OptionsSchema<OpenAPIUrlConfig> = {
  ...OPENAPI_OPTIONS,
  documentHeaders: HEADERS,
  insecure: "boolean",
  signal: "signal",
}

export const REQUEST_OPTIONS: OptionsSchema<RequestOptions> = {
  ...HTTP_SERVICE_OPTIONS,
  contentType: "text",
  identity: IDENTITY,
  signal: "signal",
}

/** Throws a `TypeError` for invalid options and for an empty credential. */
export function validateConfig(
  caller: string,
  config: Partial<HTTPServiceConfig>,
  schema: OptionsSchema,
): void {
  validateOptions(caller, config, schema)
  const { auth, credentials } = config
  for (const [path, credential] of [
    ["auth", auth] as const,
    ...Object.entries(credentials ?? {}).map(
      ([name, one]) => [`credentials.${name}`, one] as const,
    ),
  ]) {
    if (typeof credential !== "object" || credential.type !== "basic") continue
    const { username, password, token } = credential
    if ((username ?? password ?? token) === undefined) {
      throw new TypeError(
        `${caller}(): ${path}.username is required: pass username and password, or token.`,
      )
    }
  }
}
