// The sections of a configuration other than its sources.

import { describe, field, fields, listOf, recordOf, type Shape, text } from "./field-checks.ts"
import { mcpEntry } from "./kinds/mcp.ts"
import { SOURCE_SHAPES } from "./source-shapes.ts"
import { OPENAPI_OPTIONS } from "../sources/openapi/options.ts"
import { MIDDLEWARE_OPTIONS } from "../core/middleware.ts"
import { APPROVAL_RULES } from "../core/approvals.ts"
import { POLICY_RULE } from "../core/resilience.ts"
import type { OptionRule, OptionsSchema } from "../internal/options.ts"
import { HEADERS } from "../internal/headers.ts"
import { address } from "./names.ts"
import type {
  AuditConfig,
  LimitsConfig,
  RecordConfig,
  ServerConfig,
  TelemetryConfig,
} from "./model.ts"

const HASH = /^[0-9a-f]{64}$/i

const scopes = listOf("The caller's scopes.", text("A scope."))

const keyFields = fields(
  "An API key of a caller: its hash, never the key itself.",
  {
    hash: field(
      { required: "text" },
      "The hash that `operations hash-key` prints, or a reference to it.",
      {
        refers: true,
        refuse: (value) =>
          HASH.test(value)
            ? undefined
            : `must be the hash of the key, 64 hexadecimal digits: what "operations hash-key" prints. Do not write the key itself into a file.`,
      },
    ),
    identity: fields("The caller.", {
      id: field({ required: "text" }, "The caller's id."),
      scopes: { ...scopes, isRequired: true },
      resources: recordOf(
        "Actions by resource, such as project:42.",
        listOf("Actions.", text("An action.")),
      ),
    }),
    id: text("The caller's id; short for identity.id."),
    scopes,
  },
  {
    check({ identity, id, scopes: own }, keys, report) {
      if (identity !== undefined && (id !== undefined || own !== undefined)) {
        report.error(keys, `has "identity" and also "id" or "scopes", which are short for it.`)
      } else if (identity === undefined && id === undefined) {
        report.error(keys, `needs "identity": { id, scopes }, or "id" in short.`)
      }
    },
  },
)

/** Either an identity, or its id and scopes in short. */
const apiKey: Shape = {
  ...keyFields,
  schema: {
    ...keyFields.schema,
    oneOf: [
      { required: ["identity"], properties: { id: false, scopes: false } },
      { required: ["id"], properties: { identity: false } },
    ],
  },
}

/** The options of a server that are the same for programs. */
export const SERVER_OPTIONS: OptionsSchema<
  Omit<ServerConfig, "title" | "description" | "basePath" | "apiKeys" | "console">
> = {
  port: { min: 0, max: 65_535, whole: true },
  host: "text",
  jwt: {
    members: {
      jwksUrl: { required: "text" },
      issuer: { required: "text" },
      audience: { required: "text" },
      algorithms: { list: "text" },
      blockPrivate: "boolean",
    } satisfies OptionsSchema<NonNullable<ServerConfig["jwt"]>>,
  },
  allowedHosts: { list: "text" },
  allowedOrigins: { list: "text" },
  trustedProxies: { list: "text" },
  cors: {
    members: { origins: { required: { list: "text" } } } satisfies OptionsSchema<
      NonNullable<ServerConfig["cors"]>
    >,
  },
  rateLimit: {
    members: { requests: { required: "count" }, windowMs: { min: 1 } } satisfies OptionsSchema<
      NonNullable<ServerConfig["rateLimit"]>
    >,
  },
  limits: {
    members: {
      calls: "count",
      sseStreams: "count",
      streams: "count",
      sockets: "count",
    } satisfies OptionsSchema<LimitsConfig>,
  },
  maxUploadBytes: "count",
  mcp: "boolean",
  websocket: "boolean",
  errors: { oneOf: ["expose", "hide"] },
  record: {
    either: [
      "boolean",
      {
        members: {
          calls: { min: 1, max: 10_000, whole: true },
          bytes: { min: 65_536, max: 1_073_741_824, whole: true },
        } satisfies OptionsSchema<RecordConfig>,
      },
    ],
  },
}

/** How the hub is served. */
export const serverShape: Shape = fields(
  "How the hub is served.",
  {
    title: text("The hub's name."),
    description: text("What the hub is for."),
    basePath: text("A prefix of every path.", {
      refuse: (value) => (value.startsWith("/") ? undefined : `must start with "/".`),
    }),
    apiKeys: listOf("Who may call, by API key.", apiKey),
    ...describe(SERVER_OPTIONS, {
      port: "The port; default: 3000. 0 picks a free one.",
      host: "The address; default: 127.0.0.1. Other than loopback addresses need apiKeys or jwt.",
      jwt: {
        about: "Tokens of an identity provider.",
        refers: true,
        members: {
          jwksUrl: "The address of its keys.",
          issuer: "The expected issuer.",
          audience: "The expected audience.",
          algorithms: "Allowed algorithms, such as RS256.",
          blockPrivate: "Refuses to load its keys from private addresses.",
        },
      },
      allowedHosts: "Host names that the server accepts.",
      allowedOrigins: "Web pages that may call.",
      trustedProxies: "Addresses or ranges of proxies whose forwarding headers are trusted.",
      cors: {
        about: "Access for web pages of other origins.",
        members: { origins: "The allowed origins." },
      },
      rateLimit: {
        about: "Limits the requests of a caller.",
        members: {
          requests: "The number of requests.",
          windowMs: "The length of the window in milliseconds.",
        },
      },
      limits: {
        about: "What each caller may have open at the same time.",
        members: {
          calls: "Running calls; default: 100.",
          sseStreams: "Streams over HTTP and MCP; default: 20.",
          streams: "Streams over WebSockets; default: 100.",
          sockets: "WebSockets; default: 50.",
        },
      },
      maxUploadBytes: "The size of a body with files; default: 1 MiB.",
      mcp: "Serves /mcp; on by default.",
      websocket: "Serves /ws; on where ws is installed.",
      errors:
        "Whether callers see the messages of internal errors; default: expose on a loopback address without authentication and proxies, hide otherwise.",
      record: {
        about:
          "Keeps inputs, results and errors of the last calls in memory for administrators, without what looks like a secret; off by default.",
        members: { calls: "Their number; default: 200.", bytes: "Their size; default: 8 MiB." },
      },
    }),
    console: field("boolean", "Serves the console at /; on by default."),
  },
  { hints: { hostname: `Write "host".`, auth: `Write "apiKeys" or "jwt".` } },
)

/** How operations run. */
export const registryShape: Shape = fields("How operations run.", {
  timeout: field({ min: 1 }, "Timeout of a call in milliseconds; default: 30,000."),
  // The modes of a registry are those of an import.
  ...describe(OPENAPI_OPTIONS, {
    output: "How to treat results that do not match their schema.",
    normalize: "How to treat members that a schema does not name.",
  }),
})

/** The options of an audit log, and its file. */
export const AUDIT: OptionsSchema<AuditConfig> = {
  file: { required: "text" },
  key: { secret: "text" },
  record: { oneOf: ["fingerprint", "redacted", "none"] },
  fsync: { oneOf: ["mutations", "never"] },
  maxBytes: "count",
  keep: { min: 0, whole: true },
  onFailure: { oneOf: ["refuse", "continue"] },
}

/** Why fingerprints need a key. */
export const NEEDS_KEY = "without one, readers of the log can guess the inputs."

/** Who called what. */
export const auditShape: Shape = fields(
  "A log of who called what.",
  describe(AUDIT, {
    file: {
      about: "The file, relative to the configuration. Only one process may write it.",
      refers: true,
    },
    key: "The secret of the seals, without which no line can be changed undetected.",
    record:
      "What is written of inputs: a fingerprint (the default with a key), a copy without likely secrets, or nothing.",
    fsync: "Whether a mutation waits until its line is on the disk itself; default: mutations.",
    maxBytes: "Size after which another file is begun; default: 64 MiB.",
    keep: "Number of full files that are kept; all by default.",
    onFailure: "What becomes of mutations while no line can be written; default: refuse.",
  }),
  {
    check({ record, key }, keys, report) {
      if (record === "fingerprint" && key === undefined) {
        report.error(keys, `has "record": "fingerprint" and needs "key": ${NEEDS_KEY}`)
      }
    },
  },
)

const TELEMETRY: OptionsSchema<TelemetryConfig> = {
  otlp: "text",
  headers: HEADERS,
  service: "text",
  sample: { min: 0, max: 1 },
  incoming: { oneOf: ["continue", "link", "ignore"] },
  outgoing: { oneOf: ["trace", "all", "none"] },
  link: "text",
}

const webAddress = address(["https", "http"])

/** Where spans and metrics go. */
export const telemetryShape: Shape = fields(
  "Sends spans and metrics of all calls to a collector.",
  describe(TELEMETRY, {
    otlp: {
      about:
        "Base address of a collector, for OTLP over HTTP; default: OTEL_EXPORTER_OTLP_ENDPOINT. Without one, nothing is sent.",
      refers: true,
      refuse: webAddress,
    },
    headers: { about: "Sent to the collector.", isHeaders: true },
    service: "The name of the service; default: OTEL_SERVICE_NAME, then operations.",
    sample: "The share of traces that are sent, unless the caller has decided; default: 1.",
    incoming:
      "How far callers from outside are believed; by default those without an identity are only linked.",
    outgoing:
      "What leaves with requests; by default also the baggage to other registries, and only the trace to APIs and MCP servers.",
    link: {
      about:
        "The address of a trace in your tracing page, with {traceId}; the console links to it.",
      refuse: (value) =>
        webAddress(value) ??
        (value.includes("{traceId}") ? undefined : `must contain "{traceId}".`),
    },
  }),
)

/** A middleware itself, in a configuration that is a script. */
const MIDDLEWARE: OptionRule = {
  either: [
    "function",
    { methods: ["call"], expected: "a middleware" },
    { methods: ["stream"], expected: "a middleware" },
    { methods: ["for"], expected: "a middleware" },
  ],
}

/** Policies by pattern. */
export const policiesShape: Shape = field(
  { list: { members: POLICY_RULE } },
  "Policies by pattern.",
)

/** What a person has to approve first. */
export const approvalsShape: Shape = field(
  APPROVAL_RULES,
  "What a person has to approve first, and what is denied. Without a rule that applies, mutations ask.",
)

/** What runs around calls. */
export const middlewareShape: Shape = field(
  {
    list: {
      either: [
        "text",
        { members: { use: { required: { either: ["text", MIDDLEWARE] } }, ...MIDDLEWARE_OPTIONS } },
      ],
    },
  },
  "What runs around the calls of all sources: modules with a middleware as their default export.",
)

const anySource = { anyOf: Array.from(SOURCE_SHAPES.values(), ({ schema }) => schema) }

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
      "MCP servers in the format of editors; each becomes a source with its name.",
      mcpEntry,
    ).schema,
    server: serverShape.schema,
    registry: registryShape.schema,
    middleware: middlewareShape.schema,
    policies: policiesShape.schema,
    approvals: approvalsShape.schema,
    audit: auditShape.schema,
    telemetry: telemetryShape.schema,
  },
  additionalProperties: false,
}
