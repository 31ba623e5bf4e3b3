import { OPENAPI_URL_OPTIONS, type OpenAPIUrlConfig } from "../../sources/openapi/options.ts"
import { describe, field } from "../field-checks.ts"
import { address, isAddress, nameOfAddress, placeOf, textOf } from "../names.ts"
import type { CommonSource, SourceDescription } from "./kind.ts"

/** Options that the hub sets; and references to further files, whose paths would start from the folder of the process. */
type HubOptions =
  | "namespace"
  | "servers"
  | "filter"
  | "fetch"
  | "signal"
  | "documentUrl"
  | "allowedReferences"

/** An API that an OpenAPI document describes. Its texts may contain references: `"Bearer ${env:TOKEN}"`. */
export interface OpenAPISource extends CommonSource, Omit<OpenAPIUrlConfig, HubOptions> {
  /** A file, relative to the config, or an http(s) address. */
  readonly openapi: string
}

const webAddress = address(["https", "http"])

/** The members of credentials that do not explain themselves. */
const CREDENTIAL: Readonly<Record<string, string>> = {
  prefix: "A prefix of the value, instead of Bearer.",
  headerName: "The header, or the parameter; default: X-API-Key.",
  in: "Where it goes.",
  tokenUrl: "Where tokens are fetched.",
  scopes: "What tokens are for.",
  authMethod: "Where the client sends its secret.",
}

export const openapi: SourceDescription<OpenAPISource> = {
  about: "An API that an OpenAPI document describes.",
  example: "api",
  fields: {
    openapi: field({ required: "text" }, "A file, relative to the config, or an http(s) address.", {
      refers: true,
      refuse: (value) => (isAddress(value) ? webAddress(value) : undefined),
    }),
    ...describe<OpenAPIUrlConfig, Exclude<keyof OpenAPIUrlConfig, HubOptions>>(
      OPENAPI_URL_OPTIONS,
      {
        baseUrl: {
          about: "Where requests go; default: the servers that the document names.",
          refuse: webAddress,
        },
        headers: { about: "Sent with each request.", isHeaders: true },
        documentHeaders: {
          about: "Sent when the document is loaded, and nowhere else.",
          isHeaders: true,
        },
        auth: {
          about: "One credential for all operations that need one, by reference: ${env:TOKEN}.",
          members: CREDENTIAL,
        },
        credentials: {
          about: "Credentials by the name of the security scheme, by reference: ${env:TOKEN}.",
          members: CREDENTIAL,
        },
        allowedOrigins: "Other origins that requests may go to.",
        timeout: "Timeout of a call in milliseconds; default: 30,000.",
        idempotencyHeader: "The header that carries the idempotency key of a call.",
        insecure: "Allows documentHeaders over plain http to another machine.",
        blockPrivate: "Refuses private addresses, including public names that resolve to one.",
        normalize:
          "How to treat members that a schema does not name; default: that of the registry, else keep.",
        output: "How to treat results that do not match their schema.",
        input: "How to treat inputs that do not match their schema: warn logs and sends them.",
        serverVariables: "Values for the variables in the addresses of servers.",
        redirect: "Whether a redirect is followed within its origin, or is the response.",
        exposeHeaders: "Response headers to show although they contain cookies or credentials.",
        bigint: "Integers beyond 2^53 become strings; by default their last digits are lost.",
        maxResponseBytes: "The size of a response; default: 10 MiB.",
        flatten:
          "Makes the properties of object bodies separate inputs instead of one input, body.",
        contentType: "The content type of request bodies, for operations that declare it.",
        reconnect: "Reopens lost event streams after the last event; by default they end.",
        maxDocumentBytes: "The size of the document; default: 64 MiB.",
        maxFiles: "The number of files that the document refers to; default: 10,000.",
      },
      { refers: true },
    ),
  },
  hints: { spec: `Write "openapi".`, swagger: `Write "openapi".`, document: `Write "openapi".` },
  nameOf: (source) => nameOfAddress(textOf(source.openapi)),
  originOf: (source) => placeOf(source.openapi),
  isPath: (place) => !isAddress(place),
  namespaces: "source",
}
