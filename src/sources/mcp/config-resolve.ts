// Validates a config, and fills in the defaults. Messages name the server and the field, but contain no values.

import { fixedHeaders } from "../../core/call-headers.ts"
import { AccessControlSchema } from "../../core/spec-schemas.ts"
import type { AccessControl } from "../../core/types.ts"
import { isolatedLogger } from "../../internal/notify.ts"
import { findDataIssue } from "../../internal/option-issues.ts"
import { isNamespace, suggestedNamespace } from "../../mcp/names.ts"
import { compileSchema } from "../../schema/compiled.ts"
import { isRecord } from "../../internal/guards.ts"
import { configError, MCP_FIELDS, TRANSPORT_TYPES } from "./config-fields.ts"
import { mayInstall } from "./may-install.ts"
import type {
  MCPChannel,
  MCPClientConfig,
  MCPClientInfo,
  MCPHeaders,
  MCPHttpChannel,
  MCPStdioChannel,
  MCPToolConfig,
  ResolvedServer,
} from "./config.ts"

const ANYONE: AccessControl = Object.freeze({ requiredScopes: Object.freeze([]) })
const CLIENT: MCPClientInfo = Object.freeze({ name: "@alkdev/operations", version: "0.1.0" })
const VERSION = /^v?\d+(?:\.\d+){0,3}(?:[-+.][0-9A-Za-z.+-]+)?$/
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Throws the error of a field, or of the whole config. */
type Fail = (field: string | undefined, message: string) => never

/**
 * Validates a config and fills in the defaults.
 *
 * Throws a `VALIDATION_ERROR` with the server, the field and the fix, but no values.
 */
export function resolveServer(name: string, config: MCPClientConfig): ResolvedServer {
  checkName(name)
  const fail: Fail = (field, message) => {
    throw configError(name, field, message)
  }
  const value: unknown = config
  if (!isRecord(value)) {
    return fail(undefined, `must be an object with "command" or "url".`)
  }
  const way = wayOf(config, fail)
  const issue = findDataIssue(config, MCP_FIELDS)
  if (issue !== undefined) return fail(issue.path, issue.message)
  const { maxMessageBytes = 64 * 1024 * 1024 } = config
  const channel = Object.freeze(channelOf(way, config, fail))
  const isInstalled = channel.kind === "stdio" && mayInstall(channel.command)
  return Object.freeze({
    name,
    channel,
    version: versionOf(config, fail),
    era: config.era ?? "auto",
    trust: config.trust ?? false,
    tools: toolsOf(config, fail),
    filter: config.filter,
    timeout: config.timeout ?? 60_000,
    maxTotalTimeout: config.maxTotalTimeout ?? 600_000,
    connectTimeout: config.connectTimeout ?? (isInstalled ? 120_000 : 30_000),
    maxConcurrency: config.maxConcurrency ?? 64,
    maxMessageBytes,
    maxResultBytes: config.maxResultBytes ?? maxMessageBytes,
    maxTools: config.maxTools ?? 10_000,
    maxPages: config.maxPages ?? 100,
    pin: config.pin ?? "warn",
    pins: config.pins,
    resources: config.resources ?? false,
    prompts: config.prompts ?? false,
    elicitation: config.elicitation,
    sampling: config.sampling,
    roots: rootsOf(config),
    forwardInput: config.forwardInput ?? false,
    accessControl: accessOf("accessControl", config.accessControl, fail) ?? ANYONE,
    visibility: config.visibility,
    normalize: config.normalize,
    output: config.output,
    sessions: sessionsOf(config, fail),
    disabled: config.disabled ?? false,
    logger: isolatedLogger(config.logger),
    clientInfo: config.clientInfo ?? CLIENT,
    approve: config.approve,
  })
}

/** The name is the namespace of the operations, whatever the server calls itself. */
function checkName(name: string): void {
  if (typeof name !== "string") {
    throw new TypeError("An MCP server needs a name, which is the namespace of its operations.")
  }
  if (isNamespace(name)) return
  throw configError(
    name,
    undefined,
    `its name is the namespace of its operations: at most 128 letters, digits, "_" and "-". Use "${suggestedNamespace(name)}", for example.`,
  )
}

function versionOf({ version = "1.0.0" }: MCPClientConfig, fail: Fail): string {
  if (VERSION.test(version) && version.length <= 128) return version
  return fail("version", `must be a version such as "1.0.0".`)
}

function toolsOf({ tools = {} }: MCPClientConfig, fail: Fail): ReadonlyMap<string, MCPToolConfig> {
  return new Map(
    Object.entries(tools).map(([tool, toolConfig]) => {
      const { type, disabled, accessControl, timeout } =
        toolConfig ?? fail(`tools.${tool}`, "must be an object.")
      const access = accessOf(`tools.${tool}.accessControl`, accessControl, fail)
      const config: MCPToolConfig = {
        ...(type !== undefined && { type }),
        ...(disabled === true && { disabled }),
        ...(access !== undefined && { accessControl: access }),
        ...(timeout !== undefined && { timeout }),
      }
      return [tool, Object.freeze(config)] as const
    }),
  )
}

function sessionsOf(
  { sessions = "shared", transport }: MCPClientConfig,
  fail: Fail,
): "shared" | "caller" {
  if (sessions === "shared" || typeof transport !== "object") return sessions
  return fail(
    "sessions",
    `"caller" needs "transport" as a function that creates one for each caller.`,
  )
}

function rootsOf({ roots }: MCPClientConfig): ResolvedServer["roots"] {
  if (roots === undefined || typeof roots === "function") return roots
  const fixed = Object.freeze([...roots])
  return () => fixed
}

function accessOf(
  place: string,
  access: AccessControl | undefined,
  fail: Fail,
): AccessControl | undefined {
  if (access === undefined) return undefined
  const compiled = compileSchema(AccessControlSchema)
  if (compiled.check(access)) return access
  const [issue] = compiled.errors(access, 1)
  return fail(place, `is not valid: ${issue?.path ?? ""} ${issue?.message ?? ""}.`)
}

/** Which of its three ways leads to a server. */
function wayOf(config: MCPClientConfig, fail: Fail): "command" | "url" | "transport" {
  const ways = (["command", "url", "transport"] as const).filter(
    (field) => config[field] !== undefined,
  )
  const [way] = ways
  if (way !== undefined && ways.length === 1) return way
  const names = ways.map((field) => `"${field}"`).join(ways.length > 2 ? ", " : " and ")
  const got = way === undefined ? "neither" : names
  return fail(undefined, `give either "command" (stdio) or "url" (HTTP); got ${got}.`)
}

function channelOf(way: string, config: MCPClientConfig, fail: Fail): MCPChannel {
  const kind = config.type === undefined ? undefined : TRANSPORT_TYPES[config.type]
  if (way === "command") {
    if (kind === undefined || kind === "stdio") return stdioChannel(config, fail)
    return fail("type", `is for servers with a "url"; this one has a "command". Leave it out.`)
  }
  if (way === "url") {
    if (kind !== "stdio") return httpChannel(config, kind === "sse", fail)
    return fail("type", `is for servers with a "command"; this one has a "url". Leave it out.`)
  }
  const { transport } = config
  return typeof transport === "function"
    ? { kind: "own", make: transport, isRepeatable: true }
    : { kind: "own", make: () => transport as NonNullable<typeof transport>, isRepeatable: false }
}

function stdioChannel(config: MCPClientConfig, fail: Fail): MCPStdioChannel {
  const { command: commandLine = [], args = [], env = {}, cwd, inheritEnv } = config
  const plain = (field: string, text: string | undefined): string => {
    if (text === undefined) return fail(field, "must be a string, got undefined.")
    return text.includes("\0") ? fail(field, "must not contain the character NUL.") : text
  }
  const list = (field: string, texts: readonly string[]): readonly string[] =>
    Object.freeze(texts.map((text, at) => plain(`${field}[${at}]`, text)))
  const [command = "", ...first] =
    typeof commandLine === "string" ? [plain("command", commandLine)] : list("command", commandLine)
  if (command === "") return fail("command", "must name a program.")
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || name.includes("=") || name.includes("\0")) {
      fail("env", "has an invalid variable name: it is empty, or contains = or NUL.")
    }
    plain(`env.${name}`, value)
  }
  return {
    kind: "stdio",
    command,
    args: Object.freeze([...first, ...list("args", args)]),
    env: Object.freeze({ ...env }),
    cwd: cwd === undefined ? undefined : plain("cwd", cwd),
    inheritEnv: Array.isArray(inheritEnv) ? list("inheritEnv", inheritEnv) : inheritEnv,
  }
}

function httpChannel(config: MCPClientConfig, isSse: boolean, fail: Fail): MCPHttpChannel {
  return {
    kind: "http",
    url: urlOf(config, fail),
    headers: headersOf(config, fail),
    fetch: config.fetch,
    blockPrivate: config.blockPrivate ?? false,
    authProvider: authProviderOf(config, fail),
    sse: isSse ? "only" : "fallback",
  }
}

function urlOf(config: MCPClientConfig, fail: Fail): URL {
  const url = new URL(config.url as string | URL)
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return fail("url", `must start with "https:" or "http:", not "${url.protocol}".`)
  }
  if (url.username !== "" || url.password !== "") {
    return fail(
      "url",
      `must not contain a user or a password. Put them into "headers", as "Authorization".`,
    )
  }
  return url
}

function headersOf({ headers = {} }: MCPClientConfig, fail: Fail): MCPHeaders {
  if (typeof headers === "function") return headers
  const fixed: Readonly<Record<string, string | undefined>> | undefined = fixedHeaders(headers)
  for (const [name, value] of Object.entries(fixed ?? headers)) {
    if (!HEADER_NAME.test(name)) fail("headers", "has an invalid header name.")
    if (value === undefined && fixed !== undefined) {
      fail(`headers.${name}`, "must be a string, got undefined.")
    }
    if (typeof value === "string" && /[\0\r\n]/.test(value)) {
      fail(
        `headers.${name}`,
        "must be one line. Check for a line break at the end of the file or variable.",
      )
    }
  }
  return fixed === undefined ? headers : (Object.freeze({ ...fixed }) as MCPHeaders)
}

function authProviderOf(
  { authProvider }: MCPClientConfig,
  fail: Fail,
): MCPHttpChannel["authProvider"] {
  const { token, tokens } = (authProvider ?? {}) as { token?: unknown; tokens?: unknown }
  if (authProvider === undefined) return undefined
  if (typeof token === "function" || typeof tokens === "function") return authProvider
  return fail("authProvider", "must have token(), or be an OAuth client provider.")
}
