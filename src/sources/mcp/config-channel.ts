import { fixedHeaders } from "../../core/call-headers.ts"
import type { HeaderValue } from "../../core/call-headers.ts"
import { isPlainRecord } from "../../schema/json.ts"
import type { MCPChannel, MCPHeaders, MCPHttpChannel, MCPStdioChannel } from "./config.ts"
import type { ConfigFields } from "./config-issues.ts"
import type { MCPAuthProvider, MCPTransportLike } from "./transport-like.ts"

type Kind = "stdio" | "http" | "sse"

/** The names of transport types in common config files. */
const KINDS: Readonly<Record<string, Kind>> = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  "streamable-http": "http",
  streamableHttp: "http",
  streamable_http: "http",
  remote: "http",
  sse: "sse",
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Reads the channel to a server from `command`, `url` or `transport`. */
export function channelOf(fields: ConfigFields): MCPChannel {
  const ways = ["command", "url", "transport"].filter((field) => fields.has(field))
  const [way] = ways
  if (way === undefined || ways.length > 1) {
    const got =
      way === undefined
        ? "neither"
        : ways.map((field) => `"${field}"`).join(ways.length > 2 ? ", " : " and ")
    return fields.fail(undefined, `give either "command" (stdio) or "url" (HTTP); got ${got}.`)
  }
  const kind = kindOf(fields)
  if (way === "command" && kind !== undefined && kind !== "stdio") {
    fields.fail("type", `is for servers with a "url"; this one has a "command". Leave it out.`)
  }
  if (way === "url" && kind === "stdio") {
    fields.fail("type", `is for servers with a "command"; this one has a "url". Leave it out.`)
  }
  if (way === "command") return stdioChannel(fields)
  if (way === "url") return httpChannel(fields, kind === "sse")
  return ownChannel(fields)
}

/** The transport type of a config; `undefined` when it has none. */
function kindOf(fields: ConfigFields): Kind | undefined {
  const type = fields.get("type")
  if (type === undefined) return undefined
  if (typeof type === "string" && Object.hasOwn(KINDS, type)) return KINDS[type]
  return fields.fail("type", `must be "stdio", "http" or "sse".`)
}

function stdioChannel(fields: ConfigFields): MCPStdioChannel {
  const given = fields.get("command")
  const [command, ...first] = Array.isArray(given)
    ? (fields.texts("command") ?? [])
    : [fields.text("command")]
  if (command === undefined || command === "") {
    return fields.fail("command", "must name a program.")
  }
  const env = fields.record("env") ?? {}
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || name.includes("=") || name.includes("\0")) {
      fields.fail("env", "has an invalid variable name: it is empty, or contains = or NUL.")
    }
    if (value.includes("\0")) fields.fail(`env.${name}`, "must not contain the character NUL.")
  }
  return {
    kind: "stdio",
    command,
    args: Object.freeze([...first.map(String), ...(fields.texts("args") ?? [])]),
    env,
    cwd: fields.text("cwd"),
    inheritEnv: fields.get("inheritEnv") === true ? true : fields.texts("inheritEnv"),
  }
}

function httpChannel(fields: ConfigFields, isSse: boolean): MCPHttpChannel {
  return {
    kind: "http",
    url: urlOf(fields),
    headers: headersOf(fields),
    fetch: fields.callable<typeof globalThis.fetch>("fetch"),
    blockPrivate: fields.flag("blockPrivate"),
    authProvider: authProviderOf(fields),
    sse: isSse ? "only" : "fallback",
  }
}

function urlOf(fields: ConfigFields): URL {
  const given = fields.get("url")
  if (typeof given !== "string" && !(given instanceof URL)) {
    return fields.fail("url", "must be a text or a URL.")
  }
  let url: URL
  try {
    url = new URL(given)
  } catch {
    return fields.fail("url", `is not a URL. Write it in full, such as "https://example.com/mcp".`)
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return fields.fail("url", `must start with "https:" or "http:", not "${url.protocol}".`)
  }
  if (url.username !== "" || url.password !== "") {
    return fields.fail(
      "url",
      `must not contain a user or a password. Put them into "headers", as "Authorization".`,
    )
  }
  return url
}

function headersOf(fields: ConfigFields): MCPHeaders {
  const given = fields.get("headers")
  if (typeof given === "function") return given as MCPHeaders
  const headers = isOwn(given) ? (fixedHeaders(given) ?? given) : (fields.record("headers") ?? {})
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) fields.fail("headers", "has an invalid header name.")
    if (typeof value === "string" && /[\0\r\n]/.test(value)) {
      fields.fail(
        `headers.${name}`,
        "must be one line. Check for a line break at the end of the file or variable.",
      )
    }
  }
  return headers
}

/** Whether headers come from a program: a `Headers` object, or functions by name. */
function isOwn(given: unknown): given is Headers | Readonly<Record<string, HeaderValue>> {
  if (!isPlainRecord(given)) return false
  const isFunction = (value: unknown): boolean => typeof value === "function"
  return given instanceof Headers || Object.values(given).some(isFunction)
}

function authProviderOf(fields: ConfigFields): MCPAuthProvider | undefined {
  const given = fields.get("authProvider")
  if (given === undefined) return undefined
  const provider = given as { token?: unknown; tokens?: unknown }
  const isOne =
    typeof given === "object" &&
    (typeof provider.token === "function" || typeof provider.tokens === "function")
  if (!isOne) {
    return fields.fail("authProvider", "must have token(), or be an OAuth client provider.")
  }
  return given as MCPAuthProvider
}

function ownChannel(fields: ConfigFields): MCPChannel {
  const given = fields.get("transport")
  if (typeof given === "function") {
    return { kind: "own", make: given as () => MCPTransportLike, isRepeatable: true }
  }
  const transport = given as Partial<MCPTransportLike>
  const isOne =
    isPlainRecord(given) &&
    [transport.start, transport.send, transport.close].every((part) => typeof part === "function")
  if (!isOne) {
    return fields.fail("transport", "must have start(), send() and close(), or be a function.")
  }
  return { kind: "own", make: () => transport as MCPTransportLike, isRepeatable: false }
}
