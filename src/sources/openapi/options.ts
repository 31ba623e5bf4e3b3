import type { ReconnectPolicy } from "../../http-client/reconnect.ts"
import { CALL_HEADERS } from "../../core/call-headers.ts"
import { HEADERS } from "../../internal/headers.ts"
import type { HeadersLike } from "../../internal/headers.ts"
import { IDENTITY, validateOptions } from "../../internal/options.ts"
import type { OptionRule, OptionsSchema } from "../../internal/options.ts"
import type { RequestOptions } from "./config.ts"
import type { Credential, HTTPServiceConfig } from "./config.ts"
import type { ImportConfig } from "./import.ts"

/** How a document is imported, and how its operations are called. */
export interface OpenAPIConfig extends ImportConfig {
  /** Opens event streams again that were lost, after the last event; by default they end. */
  readonly reconnect?: ReconnectPolicy | boolean | undefined
  /** The largest text that is read; 64 MiB. For files that it refers to, all together, 64 MiB at least. */
  readonly maxDocumentBytes?: number | undefined
  /** How many other files may be loaded that the document refers to; 10,000. */
  readonly maxFiles?: number | undefined
  /** Where else references to other files may lead: folders, files, or http(s) addresses. */
  readonly allowedReferences?: readonly (string | URL)[] | undefined
  /** The address of a document that is given as an object or text; relative servers start there. */
  readonly documentUrl?: string | undefined
}

/** What loading from a URL takes beside that. */
export interface OpenAPIUrlConfig extends OpenAPIConfig {
  /** Sent when the document is loaded, and nowhere else. */
  readonly documentHeaders?: HeadersLike | undefined
  /** Send `documentHeaders` over plain http to another machine: for a network that only you reach. */
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

/** A URL, or text that is made one of later. */
const ADDRESS: OptionRule = { either: ["text", { methods: ["toJSON"], expected: "a URL" }] }

const HTTP_SERVICE_OPTIONS: OptionsSchema<Omit<HTTPServiceConfig, "namespace">> = {
  baseUrl: ADDRESS,
  servers: { oneOf: ["document"] },
  serverVariables: { record: "string" },
  allowedOrigins: { list: "text" },
  blockPrivate: "boolean",
  headers: CALL_HEADERS,
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

/** Throws a `TypeError` for options that are wrong, and for a credential with nothing in it. */
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
        `${caller}(): ${path}.username is required: give username and password, or token.`,
      )
    }
  }
}
