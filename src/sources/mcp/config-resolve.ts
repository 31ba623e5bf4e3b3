import type { Logger } from "../../internal/logger.ts"
import { isPlainRecord } from "../../schema/json.ts"
import { compileSchema } from "../../schema/compiled.ts"
import { AccessControlSchema } from "../../core/spec-schemas.ts"
import type { AccessControl } from "../../core/types.ts"
import { channelOf } from "./config-channel.ts"
import { ConfigFields, configError } from "./config-issues.ts"
import type {
  MCPClientConfig,
  MCPClientInfo,
  MCPRoot,
  MCPToolConfig,
  ResolvedServer,
} from "./config.ts"
import { isNamespace, suggestedNamespace } from "../../mcp/names.ts"
import type { PinPolicy, PinStore } from "./pins.ts"
import { isolatedLogger } from "../../internal/notify.ts"

const ANYONE: AccessControl = Object.freeze({ requiredScopes: Object.freeze([]) })
const CLIENT: MCPClientInfo = Object.freeze({ name: "@alkdev/operations", version: "0.1.0" })
const VERSION = /^v?\d+(?:\.\d+){0,3}(?:[-+.][0-9A-Za-z.+-]+)?$/

/**
 * Validates a config and fills in the defaults.
 *
 * Throws a `VALIDATION_ERROR` with the server, the field and the fix, but no values.
 */
export function resolveServer(name: string, config: MCPClientConfig): ResolvedServer {
  checkName(name)
  if (!isPlainRecord(config)) {
    throw configError(name, undefined, `must be an object with "command" or "url".`)
  }
  const fields = new ConfigFields(name, config)
  const maxMessageBytes = fields.count("maxMessageBytes", 64 * 1024 * 1024)
  return Object.freeze({
    name,
    channel: Object.freeze(channelOf(fields)),
    version: versionOf(fields),
    era: fields.oneOf("era", ["auto", "legacy", "modern"]) ?? "auto",
    trust: fields.flag("trust"),
    tools: toolsOf(fields),
    filter: fields.callable<NonNullable<MCPClientConfig["filter"]>>("filter"),
    timeout: fields.duration("timeout", 60_000),
    maxTotalTimeout: fields.duration("maxTotalTimeout", 600_000),
    connectTimeout: fields.duration("connectTimeout", 30_000),
    maxConcurrency: fields.count("maxConcurrency", 64),
    maxMessageBytes,
    maxResultBytes: fields.count("maxResultBytes", maxMessageBytes),
    maxTools: fields.count("maxTools", 10_000),
    maxPages: fields.count("maxPages", 100),
    pin: pinOf(fields),
    pins: pinsOf(fields),
    resources: fields.flag("resources"),
    prompts: fields.flag("prompts"),
    elicitation: fields.callable<NonNullable<MCPClientConfig["elicitation"]>>("elicitation"),
    sampling: fields.callable<NonNullable<MCPClientConfig["sampling"]>>("sampling"),
    roots: rootsOf(fields),
    forwardInput: fields.flag("forwardInput"),
    accessControl: accessOf(fields, "accessControl", fields.get("accessControl")) ?? ANYONE,
    visibility: fields.oneOf("visibility", ["external", "internal"]),
    normalize: fields.oneOf("normalize", ["strip", "keep", "off"]),
    output: fields.oneOf("output", ["warn", "strict", "off"]),
    disabled: fields.flag("disabled"),
    logger: loggerOf(fields),
    clientInfo: clientInfoOf(fields),
    approve: fields.callable<NonNullable<MCPClientConfig["approve"]>>("approve"),
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

function versionOf(fields: ConfigFields): string {
  const version = fields.text("version") ?? "1.0.0"
  if (VERSION.test(version) && version.length <= 128) return version
  return fields.fail("version", `must be a version such as "1.0.0".`)
}

function toolsOf(fields: ConfigFields): ReadonlyMap<string, MCPToolConfig> {
  const given = fields.get("tools")
  if (given === undefined) return new Map()
  if (!isPlainRecord(given)) {
    return fields.fail(
      "tools",
      `must be an object by tool, such as { "read": { "type": "query" } }.`,
    )
  }
  return new Map(
    Object.entries(given).map(([tool, entry]) => {
      const place = `tools.${tool}`
      if (!isPlainRecord(entry)) return fields.fail(place, "must be an object.")
      const own = new ConfigFields(
        fields.server,
        Object.fromEntries(Object.entries(entry).map(([key, value]) => [`${place}.${key}`, value])),
      )
      const type = own.oneOf(`${place}.type`, ["query", "mutation"])
      const access = accessOf(own, `${place}.accessControl`, own.get(`${place}.accessControl`))
      const config: MCPToolConfig = {
        ...(type !== undefined && { type }),
        ...(own.flag(`${place}.disabled`) && { disabled: true }),
        ...(access !== undefined && { accessControl: access }),
        ...(own.has(`${place}.timeout`) && { timeout: own.duration(`${place}.timeout`, 0) }),
      }
      return [tool, Object.freeze(config)] as const
    }),
  )
}

function pinOf(fields: ConfigFields): PinPolicy {
  const given = fields.get("pin")
  if (typeof given === "function") return given as PinPolicy
  return fields.oneOf<"off" | "warn" | "block">("pin", ["off", "warn", "block"]) ?? "warn"
}

function pinsOf(fields: ConfigFields): PinStore | undefined {
  const given = fields.get("pins") as Partial<PinStore> | undefined
  if (given === undefined) return undefined
  if (typeof given.load === "function" && typeof given.save === "function") {
    return given as PinStore
  }
  return fields.fail("pins", "must have load() and save().")
}

function rootsOf(fields: ConfigFields): ResolvedServer["roots"] {
  const given = fields.get("roots")
  if (given === undefined) return undefined
  if (typeof given === "function") return given as NonNullable<ResolvedServer["roots"]>
  const isList =
    Array.isArray(given) &&
    given.every((root) => isPlainRecord(root) && typeof root["uri"] === "string")
  if (!isList) {
    return fields.fail(
      "roots",
      `must be a list such as [{ "uri": "file:///projects" }], or a function.`,
    )
  }
  const roots = Object.freeze([...(given as MCPRoot[])])
  return () => roots
}

function accessOf(fields: ConfigFields, place: string, given: unknown): AccessControl | undefined {
  if (given === undefined) return undefined
  const compiled = compileSchema(AccessControlSchema)
  if (compiled.check(given)) return given as AccessControl
  const [issue] = compiled.errors(given, 1)
  return fields.fail(place, `is not valid: ${issue?.path ?? ""} ${issue?.message ?? ""}.`)
}

function loggerOf(fields: ConfigFields): Logger {
  const given = fields.get("logger") as Partial<Logger> | undefined
  if (given === undefined) return isolatedLogger(undefined)
  const methods = [given.debug, given.info, given.warn, given.error]
  if (methods.every((method) => typeof method === "function"))
    return isolatedLogger(given as Logger)
  return fields.fail("logger", "must have debug(), info(), warn() and error().")
}

function clientInfoOf(fields: ConfigFields): MCPClientInfo {
  const given = fields.get("clientInfo")
  if (given === undefined) return CLIENT
  const info = given as Partial<MCPClientInfo>
  if (isPlainRecord(given) && typeof info.name === "string" && typeof info.version === "string") {
    return given as unknown as MCPClientInfo
  }
  return fields.fail("clientInfo", "must have a name and a version.")
}
