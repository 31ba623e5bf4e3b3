import { OPENAPI_URL_OPTIONS, type OpenAPIUrlConfig } from "../../sources/openapi/options.ts"
import { describe, field, listOf, recordOf, text } from "../field-checks.ts"
import { address, isAddress, nameOfAddress, placeOf, textOf } from "../names.ts"
import { credential, headers } from "../secret-shapes.ts"
import type { CommonSource, SourceDescription } from "./kind.ts"

/** Options that the hub sets, and those that a file cannot hold. */
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
  /** Where requests go; default: the servers that the document names. */
  readonly baseUrl?: string | undefined
}

const webAddress = address(["https", "http"])

export const openapi: SourceDescription<OpenAPISource> = {
  about: "An API that an OpenAPI document describes.",
  example: "api",
  fields: {
    openapi: field({ required: "text" }, "A file, relative to the config, or an http(s) address.", {
      refers: true,
      refuse: (value) => (isAddress(value) ? webAddress(value) : undefined),
    }),
    baseUrl: text("Where requests go; default: the servers that the document names.", {
      refers: true,
      refuse: webAddress,
    }),
    headers: headers("Sent with each request."),
    documentHeaders: headers("Sent when the document is loaded, and nowhere else."),
    auth: credential("One credential for all operations that need one."),
    credentials: recordOf(
      "Credentials by the name of the security scheme.",
      credential("A credential."),
    ),
    allowedOrigins: listOf("Other origins that requests may go to.", text("An origin.")),
    timeout: field({ min: 1 }, "Timeout of a call in milliseconds; default: 30,000."),
    ...describe(OPENAPI_URL_OPTIONS, {
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
      flatten: "Makes the properties of object bodies separate inputs instead of one input, body.",
      contentType: "The content type of request bodies, for operations that declare it.",
      reconnect: "Reopens lost event streams after the last event; by default they end.",
      maxDocumentBytes: "The size of the document; default: 64 MiB.",
      maxFiles: "The number of files that the document refers to; default: 10,000.",
    }),
  },
  hints: { spec: `Write "openapi".`, swagger: `Write "openapi".`, document: `Write "openapi".` },
  nameOf: (source) => nameOfAddress(textOf(source.openapi)),
  originOf: (source) => placeOf(source.openapi),
  isPath: (place) => !isAddress(place),
  namespaces: "source",
}
