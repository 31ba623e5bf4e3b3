// The options of each kind of source.

import { isNamespace, suggestedNamespace } from "../mcp/names.ts"
import { address } from "./address-shape.ts"
import { splitCommandLine } from "./command-line.ts"
import { mcpEntry } from "./mcp-shape.ts"
import type { SourceKind } from "./model.ts"
import { isAddress } from "./names.ts"
import { checkRemote, remote } from "./remote-shape.ts"
import { credential, headers } from "./secret-shapes.ts"
import { RESILIENCE_OR_PRESET } from "../core/resilience.ts"
import { OPENAPI_URL_OPTIONS } from "../sources/openapi/options.ts"
import {
  describe,
  field,
  fields,
  listOf,
  oneOrMany,
  recordOf,
  type Shape,
  text,
} from "./field-checks.ts"

const patterns = (description: string): Shape =>
  oneOrMany(description, text("A name or id; * stands for any part."))

const accessRule = fields("Who may call; without requirements, everyone.", {
  match: patterns("The ids or names it applies to; default: every operation of the source."),
  requiredScopes: listOf("Every one of these.", text("A scope.")),
  requiredScopesAny: listOf("At least one of these.", text("A scope.")),
  resourceType: text("The type of resource that a caller needs access to."),
  resourceAction: text("The action that the caller must be allowed to perform."),
  resourceIdPath: text("JSON pointer to the resource id in the input."),
})

const common: Readonly<Record<string, Shape>> = {
  namespace: text("The prefix of its operation ids; default: the source's name.", {
    refuse: (value) =>
      isNamespace(value)
        ? undefined
        : `must be letters, digits, "_" and "-", at most 128: "${suggestedNamespace(value)}", for example.`,
  }),
  include: patterns("Only these operations."),
  exclude: patterns("Without these operations."),
  rename: recordOf("New operation names by old name.", text("The new name.")),
  visibility: field(
    { oneOf: ["external", "internal"] },
    "Internal operations can be called by other operations only and are never served.",
  ),
  access: oneOrMany("Who may call which operations; the first matching rule applies.", accessRule),
  resilience: field(
    RESILIENCE_OR_PRESET,
    "What happens when its calls fail, are slow or are made too often.",
  ),
  required: field(
    "boolean",
    "While it is missing, the hub is not ready; default: true for brokers only.",
  ),
  disabled: field("boolean", "Leaves the source out."),
}

function refuseDocument(value: string): string | undefined {
  if (!isAddress(value)) return undefined
  return address(["https", "http"])(value)
}

function refuseServer(value: string): string | undefined {
  if (isAddress(value)) return address(["https", "http"])(value)
  const words = splitCommandLine(value)
  if (words === undefined) return "has a quotation mark that is not closed."
  return words.length === 0 ? "must name a program or an address." : undefined
}

const mcp: Shape = {
  isRequired: true,
  schema: {
    description: "A command line, an http(s) address, or an entry in the format of editors.",
    anyOf: [{ type: "string", minLength: 1 }, mcpEntry.schema],
  },
  check(value, keys, report) {
    if (typeof value !== "string") return mcpEntry.check(value, keys, report)
    // In a command, `${…}` may be meant for the program that reads it.
    text("", { refuse: refuseServer, refers: isAddress(value) }).check(value, keys, report)
  },
}

const BLOCK_PRIVATE = "Refuses private addresses, including public names that resolve to one."

const openapi = {
  openapi: field({ required: "text" }, "A file, relative to the config, or an http(s) address.", {
    refers: true,
    refuse: refuseDocument,
  }),
  baseUrl: text("Where requests go; default: the servers that the document names.", {
    refers: true,
    refuse: address(["https", "http"]),
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
    blockPrivate: BLOCK_PRIVATE,
    normalize:
      "How to treat members that a schema does not name; default: that of the registry, else keep.",
    output: "How to treat results that do not match their schema.",
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
}

/** The fields of each kind, the common ones included. */
export const SOURCE_FIELDS: Readonly<Record<SourceKind, Readonly<Record<string, Shape>>>> = {
  scan: {
    scan: field({ required: "text" }, "A folder of modules, relative to the config."),
    ...common,
  },
  openapi: { ...openapi, ...common },
  mcp: {
    mcp,
    headers: headers("Sent with each request to an HTTP server."),
    env: recordOf(
      "Environment variables of the server's process.",
      text("A value, or a reference: ${env:NAME}.", { refers: true }),
    ),
    blockPrivate: field("boolean", BLOCK_PRIVATE),
    ...common,
  },
  remote: { ...remote, ...common },
}

export const SOURCE_KINDS = Object.keys(SOURCE_FIELDS) as readonly SourceKind[]

export const KINDS_TEXT: string = SOURCE_KINDS.map((kind) => `"${kind}"`).join(", ")

/** Hints for field names that users often try on a source. */
export const HINTS: Readonly<Record<string, string>> = {
  command: `Put it into "mcp": { "command": … }.`,
  args: `Put it into "mcp": { "command": …, "args": … }.`,
  url: `Write "openapi" (a document), "mcp" (an MCP server) or "remote" (a hub, or a broker with workers).`,
  type: `A source is what it names: ${KINDS_TEXT}.`,
  path: `Write "scan" (a folder) or "openapi" (a document).`,
  dir: `Write "scan".`,
  folder: `Write "scan".`,
  directory: `Write "scan".`,
  spec: `Write "openapi".`,
  swagger: `Write "openapi".`,
  document: `Write "openapi".`,
  hub: `Write "remote".`,
  broker: `Write "remote": "nats://…" or "redis://…".`,
  servers: `Write "remote": "nats://…", several with commas between.`,
  nats: `Write "remote": "nats://…".`,
  redis: `Write "remote": "redis://…".`,
  name: `A source has its name in front: { "sources": { "name": { … } } }; in a list, write "namespace".`,
  enabled: `Write "disabled": true to leave it out.`,
}

/** One shape for each kind of source. */
export const SOURCE_SHAPES: Readonly<Record<SourceKind, Shape>> = {
  scan: shapeOf("scan", "A folder of TypeScript or JavaScript modules."),
  openapi: shapeOf("openapi", "An API that an OpenAPI document describes."),
  mcp: shapeOf("mcp", "The tools of an MCP server."),
  remote: checkRemote(
    shapeOf("remote", "The operations of another hub, or of the workers behind a broker."),
  ),
}

function shapeOf(kind: SourceKind, description: string): Shape {
  // The first kind that has a field is named.
  const elsewhere = SOURCE_KINDS.toReversed().flatMap((other) =>
    Object.keys(SOURCE_FIELDS[other]).map(
      (name) => [name, `It is for "${other}" sources.`] as const,
    ),
  )
  const hints = { ...HINTS, ...Object.fromEntries(elsewhere) }
  return fields(description, SOURCE_FIELDS[kind], { hints })
}
