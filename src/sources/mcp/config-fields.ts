import { CALL_HEADERS } from "../../core/call-headers.ts"
import { CallError } from "../../core/errors.ts"
import { isRecord } from "../../internal/guards.ts"
import type { OptionRule, OptionsSchema } from "../../internal/options.ts"
import { setOwn } from "../../schema/json.ts"
import type { MCPClientConfig, MCPClientInfo, MCPRoot, MCPToolConfig } from "./config.ts"

/** The names of transport types in common config files. */
export const TRANSPORT_TYPES: Readonly<Record<string, "stdio" | "http" | "sse">> = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  "streamable-http": "http",
  streamableHttp: "http",
  streamable_http: "http",
  remote: "http",
  sse: "sse",
}

/** Checked by its own schema when the config is resolved. */
const ACCESS: OptionRule = "any"

const TOOL: OptionsSchema<MCPToolConfig> = {
  type: { oneOf: ["query", "mutation"] },
  disabled: "boolean",
  accessControl: ACCESS,
  timeout: "duration",
}

const ROOT: OptionsSchema<MCPRoot> = { uri: { required: "text" }, name: "string" }

const CLIENT_INFO: OptionsSchema<MCPClientInfo> = {
  name: { required: "text" },
  version: { required: "text" },
  title: "string",
  icons: { list: { record: "any" } },
}

export const PIN_STORE: OptionRule = {
  methods: ["load", "save"],
  expected: "a store with load() and save()",
}

/** The fields of `MCPClientConfig`, with the values that a program may pass. */
export const MCP_FIELDS: OptionsSchema<MCPClientConfig> = {
  command: { either: ["text", { list: "string" }] },
  args: { list: "string" },
  env: { secret: { record: "string" } },
  cwd: "text",
  inheritEnv: { either: [{ list: "text" }, { oneOf: [true] }] },
  url: { secret: "url" },
  headers: CALL_HEADERS,
  fetch: "function",
  blockPrivate: "boolean",
  authProvider: { methods: [], expected: "an object with token(), or an OAuth client provider" },
  type: { oneOf: /* @__PURE__ */ Object.keys(TRANSPORT_TYPES) },
  transport: {
    either: [
      "function",
      {
        methods: ["start", "send", "close"],
        expected: "a transport with start(), send(), close()",
      },
    ],
  },
  version: "text",
  era: { oneOf: ["auto", "legacy", "modern"] },
  trust: "boolean",
  tools: { record: { members: TOOL } },
  filter: "function",
  timeout: "duration",
  maxTotalTimeout: "duration",
  connectTimeout: "duration",
  maxConcurrency: "count",
  maxMessageBytes: "count",
  maxResultBytes: "count",
  maxTools: "count",
  maxPages: "count",
  pin: { either: [{ oneOf: ["off", "warn", "block"] }, "function"] },
  pins: PIN_STORE,
  resources: "boolean",
  prompts: "boolean",
  elicitation: "function",
  sampling: "function",
  roots: { either: ["function", { list: { members: ROOT } }] },
  forwardInput: "boolean",
  accessControl: ACCESS,
  visibility: { oneOf: ["external", "internal"] },
  normalize: { oneOf: ["strip", "keep", "off"] },
  output: { oneOf: ["warn", "strict", "off"] },
  sessions: { oneOf: ["shared", "caller"] },
  disabled: "boolean",
  logger: "logger",
  clientInfo: { members: CLIENT_INFO },
  approve: "function",
}

/** The error for an invalid config. It never contains values, which may be secrets. */
export function configError(
  server: string,
  field: string | undefined,
  message: string,
  cause?: unknown,
): CallError<"VALIDATION_ERROR"> {
  const place = field === undefined ? "" : ` "${field}"`
  return new CallError("VALIDATION_ERROR", `MCP server "${server}":${place} ${message}`, {
    details: { server, ...(field !== undefined && { field }) },
    ...(cause !== undefined && { cause }),
  })
}

/** Alternative names of our fields. */
export const ALIASES: Readonly<Record<string, string>> = {
  environment: "env",
  serverUrl: "url",
  httpUrl: "url",
  transportType: "type",
}

/** Fields with texts that are often written without quotation marks, as numbers and booleans. */
const TEXTS: ReadonlySet<string> = new Set(["command", "args", "env", "headers"])

/**
 * Copies an entry with our field names, without empty fields and with the texts as strings.
 *
 * `onRepeat` is called for a field that is there twice, under two of its names. `keys` gets the original name of each field.
 */
export function toPlainEntry(
  entry: Readonly<Record<string, unknown>>,
  onRepeat?: (key: string, message: string) => void,
  keys: Map<string, string> = new Map(),
): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(entry)) {
    if (value === undefined || value === null) continue
    // "transport" is either a transport type or a transport object.
    const isType = key === "transport" && typeof value === "string"
    const name = isType ? "type" : Object.hasOwn(ALIASES, key) ? (ALIASES[key] ?? key) : key
    const other = keys.get(name)
    if (other !== undefined) onRepeat?.(key, `means the same as "${other}". Remove one of them.`)
    keys.set(name, key)
    setOwn(out, name, TEXTS.has(name) ? asTexts(value) : value)
  }
  if (out["enabled"] === false) out["disabled"] = true
  delete out["enabled"]
  return out
}

function asTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asText)
  if (!isRecord(value)) return value
  const out = {}
  for (const [key, item] of Object.entries(value)) setOwn(out, key, asText(item))
  return out
}

function asText(value: unknown): unknown {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value
}
