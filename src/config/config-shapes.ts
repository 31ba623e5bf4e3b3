// What may be said in a configuration beside its sources.

import { isPlainRecord } from "../schema/json.ts"
import { mcpEntry } from "./mcp-shape.ts"
import { fields, flag, listOf, number, oneOf, recordOf, type Shape, text } from "./shape.ts"
import { SOURCE_KINDS, SOURCE_SHAPES } from "./source-shapes.ts"

const HASH = /^[0-9a-f]{64}$/i

const scopes = listOf("What they may do.", text("A scope."))

const keyFields = fields(
  "An API key of somebody; its hash, never itself.",
  {
    hash: text("What `operations hash-key` gives, or a reference to it.", {
      refers: true,
      refuse: (value) =>
        HASH.test(value)
          ? undefined
          : `must be the hash of the key, 64 hexadecimal digits: what "operations hash-key" gives. A key itself does not belong into a file.`,
    }),
    identity: fields(
      "Who it is.",
      {
        id: text("Their name."),
        scopes,
        resources: recordOf(
          "Actions by resource, such as project:42.",
          listOf("Actions.", text("An action.")),
        ),
      },
      { required: ["id", "scopes"] },
    ),
    id: text("Who it is; short for identity.id."),
    scopes,
  },
  { required: ["hash"] },
)

/** Either an identity, or its id and scopes in short. */
const apiKey: Shape = {
  schema: {
    ...keyFields.schema,
    oneOf: [
      { required: ["identity"], properties: { id: false, scopes: false } },
      { required: ["id"], properties: { identity: false } },
    ],
  },
  check(value, keys, found) {
    keyFields.check(value, keys, found)
    if (!isPlainRecord(value)) return
    const isShort = value["id"] !== undefined || value["scopes"] !== undefined
    if (value["identity"] !== undefined && isShort) {
      found.fault(keys, `has "identity" and also "id" or "scopes", which are short for it.`)
    } else if (value["identity"] === undefined && value["id"] === undefined) {
      found.fault(keys, `needs "identity": { id, scopes }, or "id" in short.`)
    }
  },
}

const jwt = fields(
  "Tokens of an identity provider.",
  {
    jwksUrl: text("Where its keys are.", { refers: true }),
    issuer: text("Who it is.", { refers: true }),
    audience: text("Whom its tokens are for.", { refers: true }),
    algorithms: listOf("Allowed algorithms.", text("Such as RS256.")),
    blockPrivate: flag("Its keys are not loaded from private addresses."),
  },
  { required: ["jwksUrl", "issuer", "audience"] },
)

/** How the hub is served. */
export const serverShape: Shape = fields(
  "How the hub is served.",
  {
    port: number("3000; 0 for any.", { least: 0, most: 65_535, whole: true }),
    host: text("127.0.0.1. Any other than a loopback needs apiKeys or jwt."),
    title: text("The hub's name."),
    description: text("What the hub is for."),
    basePath: text("In front of every path.", {
      refuse: (value) => (value.startsWith("/") ? undefined : `must start with "/".`),
    }),
    apiKeys: listOf("Who may call, by API key.", apiKey),
    jwt,
    allowedHosts: listOf("Names that the server answers to.", text("A host.")),
    allowedOrigins: listOf("Web pages that may call.", text("An origin.")),
    trustedProxies: listOf("Proxies whose word counts.", text("An address or a range.")),
    cors: fields(
      "Web pages of other origins.",
      { origins: listOf("Which.", text("An origin.")) },
      { required: ["origins"] },
    ),
    rateLimit: fields(
      "Requests of one caller.",
      {
        requests: number("How many.", { least: 1, whole: true }),
        windowMs: number("Within how many milliseconds.", { least: 1 }),
      },
      { required: ["requests"] },
    ),
    mcp: flag("Serves /mcp; on where @modelcontextprotocol/server is installed."),
    websocket: flag("Serves /ws; on where ws is installed."),
    errors: oneOf(
      "What callers read of errors that were not written for them; expose on a loopback address without authentication and proxies, hide otherwise.",
      ["expose", "hide"],
    ),
    console: flag("Serves the console, a page at /; on."),
  },
  { hints: { hostname: `Write "host".`, auth: `Write "apiKeys" or "jwt".` } },
)

/** How operations run. */
export const registryShape: Shape = fields("How operations run.", {
  timeout: number("Milliseconds that a call may take; 30,000.", { least: 1 }),
  output: oneOf("What becomes of results that do not match their schema.", [
    "warn",
    "strict",
    "off",
  ]),
  normalize: oneOf("What becomes of members that a schema does not name.", [
    "strip",
    "keep",
    "off",
  ]),
})

export const TOP_LEVEL = ["sources", "mcpServers", "server", "registry", "$schema"] as const

const anySource = { anyOf: SOURCE_KINDS.map((kind) => SOURCE_SHAPES[kind].schema) }

/** The JSON Schema of a configuration, for editors. */
export const configSchema: Readonly<Record<string, unknown>> = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Configuration of operations",
  type: "object",
  properties: {
    $schema: { type: "string" },
    sources: {
      description: "Where operations come from, by name.",
      anyOf: [
        { type: "object", additionalProperties: anySource },
        { type: "array", items: anySource },
      ],
    },
    mcpServers: recordOf(
      "MCP servers as editors keep them; each is a source of its name.",
      mcpEntry,
    ).schema,
    server: serverShape.schema,
    registry: registryShape.schema,
  },
  additionalProperties: false,
}
