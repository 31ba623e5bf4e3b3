// What may be said of each kind of source.

import { isNamespace, suggestedNamespace } from "../mcp/names.ts"
import { address } from "./address-shape.ts"
import { splitCommandLine } from "./command-line.ts"
import { mcpEntry } from "./mcp-shape.ts"
import type { SourceKind } from "./model.ts"
import { isAddress } from "./names.ts"
import { checkRemote, remote } from "./remote-shape.ts"
import { credential, headers } from "./secret-shapes.ts"
import {
  fields,
  flag,
  listOf,
  number,
  oneOf,
  oneOrMany,
  recordOf,
  type Shape,
  text,
} from "./shape.ts"

const patterns = (description: string): Shape =>
  oneOrMany(description, text("A name or id; * stands for any part."))

const accessRule = fields("Who may call; without anything required, anyone.", {
  match: patterns("Ids or names that it is for; default: every operation of the source."),
  requiredScopes: listOf("Every one of these.", text("A scope.")),
  requiredScopesAny: listOf("At least one of these.", text("A scope.")),
  resourceType: text("The kind of thing that a caller needs access to."),
  resourceAction: text("What the caller must be allowed to do with it."),
  resourceIdPath: text("JSON pointer into the input: which one it is."),
})

const common: Readonly<Record<string, Shape>> = {
  namespace: text("In front of its operations; default: the source's name.", {
    refuse: (value) =>
      isNamespace(value)
        ? undefined
        : `must be letters, digits, "_" and "-", at most 128: "${suggestedNamespace(value)}", for example.`,
  }),
  include: patterns("Only these operations."),
  exclude: patterns("Without these operations."),
  rename: recordOf("New names by old ones.", text("The new name.")),
  visibility: oneOf("Internal operations are for other operations alone, and never served.", [
    "external",
    "internal",
  ]),
  access: oneOrMany("Who may call what; the first rule that matches counts.", accessRule),
  required: flag("A hub without it is not ready; default: brokers, and nothing else."),
  disabled: flag("It is left out."),
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
  schema: {
    description: "A command line, an http(s) address, or an entry as editors have it.",
    anyOf: [{ type: "string", minLength: 1 }, mcpEntry.schema],
  },
  check(value, keys, found) {
    if (typeof value !== "string") return mcpEntry.check(value, keys, found)
    // In a command, `${…}` may be meant for whoever reads it there.
    text("", { refuse: refuseServer, refers: isAddress(value) }).check(value, keys, found)
  },
}

const blockPrivate = flag(
  "Private addresses are refused, also where a public name resolves to one.",
)

const openapi = {
  openapi: text("A file, relative to the config, or an http(s) address.", {
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
  allowedOrigins: listOf("Other origins that operations may go to.", text("An origin.")),
  timeout: number("Milliseconds that a call may take; default: 30,000.", { least: 1 }),
  insecure: flag("documentHeaders may go to another machine over plain http."),
  blockPrivate,
  normalize: oneOf("What becomes of results; default: as the registry says, else keep.", [
    "strip",
    "keep",
    "off",
  ]),
  output: oneOf("What becomes of results that do not match their schema.", [
    "warn",
    "strict",
    "off",
  ]),
}

/** The fields of each kind, the common ones included. */
export const SOURCE_FIELDS: Readonly<Record<SourceKind, Readonly<Record<string, Shape>>>> = {
  scan: { scan: text("A folder of modules, relative to the config."), ...common },
  openapi: { ...openapi, ...common },
  mcp: {
    mcp,
    headers: headers("Sent with each request to a server on the web."),
    env: recordOf(
      "Variables of the server's process.",
      text("A value; it may refer: ${env:NAME}.", { refers: true }),
    ),
    blockPrivate,
    ...common,
  },
  remote: {
    ...remote,
    ...common,
  },
}

export const SOURCE_KINDS = Object.keys(SOURCE_FIELDS) as readonly SourceKind[]

const ABOUT: Readonly<Record<SourceKind, string>> = {
  scan: "A folder of TypeScript or JavaScript modules.",
  openapi: "An API that an OpenAPI document describes.",
  mcp: "The tools of an MCP server.",
  remote: "The operations of another hub, or of the workers behind a broker.",
}

/** One shape for each kind of source. */
export const SOURCE_SHAPES: Readonly<Record<SourceKind, Shape>> = {
  scan: fields(ABOUT.scan, SOURCE_FIELDS.scan, { required: ["scan"] }),
  openapi: fields(ABOUT.openapi, SOURCE_FIELDS.openapi, { required: ["openapi"] }),
  mcp: fields(ABOUT.mcp, SOURCE_FIELDS.mcp, { required: ["mcp"] }),
  remote: checkRemote(fields(ABOUT.remote, SOURCE_FIELDS.remote, { required: ["remote"] })),
}
