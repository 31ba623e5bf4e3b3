import { validateOptions } from "../internal/options.ts"
import type { OptionsSchema } from "../internal/options.ts"
import { isPlainRecord } from "../schema/json.ts"
import { registryShape, serverShape, TOP_LEVEL } from "./config-shapes.ts"
import { ConfigError, type ConfigFault, faultAt, type Locate } from "./error.ts"
import type { RegistryConfig, ServerConfig, SettledConfig } from "./model.ts"
import { settleSources } from "./settle-sources.ts"
import { checkNames, type Findings, isGiven, kindOf, type Shape } from "./shape.ts"

export interface SettleOptions {
  /** The folder that relative paths start from. */
  readonly baseDir: string
  /** The file it was read from. */
  readonly file?: string | undefined
  /** What the file is called in messages; default: `file`. */
  readonly shown?: string | undefined
  /** Where something is in the file. */
  readonly where?: Locate | undefined
}

export const SETTLE_OPTIONS: OptionsSchema<SettleOptions> = {
  baseDir: { required: "text" },
  file: "text",
  shown: "text",
  where: "function",
}

const EXAMPLE = `{ sources: { tools: { scan: "./operations" } } }`

/** What people write for something else. */
const HINTS: Readonly<Record<string, string>> = {
  source: `Write "sources", an object by name.`,
  servers: `Write "mcpServers" for MCP servers, "server" for how the hub is served.`,
  mcp: `Write "mcpServers", or a source with "mcp".`,
  openapi: `Write a source: { "sources": { "api": { "openapi": … } } }.`,
  scan: `Write a source: { "sources": { "tools": { "scan": … } } }.`,
  remote: `Write a source: { "sources": { "hub": { "remote": … } } }.`,
  port: `Write it into "server".`,
  host: `Write it into "server".`,
}

/**
 * Checks a configuration and fills in what it does not say.
 *
 * Throws a `ConfigError` with every mistake that was found. Nothing is read and no reference resolved.
 */
export function settleConfig(value: unknown, options: SettleOptions): SettledConfig {
  validateOptions("settleConfig", options, SETTLE_OPTIONS)
  const faults: ConfigFault[] = []
  const warnings: ConfigFault[] = []
  const found: Findings = {
    fault: (keys, message) => faults.push(faultAt(keys, message, options.where)),
    warn: (keys, message) => warnings.push(faultAt(keys, message, options.where)),
  }
  const settled = settle(value, options, found)
  if (faults.length > 0) {
    faults.sort((left, right) => (left.line ?? 0) - (right.line ?? 0))
    throw new ConfigError(faults, { file: options.shown ?? options.file })
  }
  return Object.freeze({ ...settled, warnings: Object.freeze(warnings) })
}

function settle(value: unknown, options: SettleOptions, found: Findings): SettledConfig {
  const config = isPlainRecord(value) ? value : {}
  if (config !== value) found.fault([], refusalOf(value))
  checkNames(config, [], found, TOP_LEVEL, { hints: HINTS })
  return {
    sources: settleSources(config, found),
    server: part(config, "server", serverShape, found) as ServerConfig,
    registry: part(config, "registry", registryShape, found) as RegistryConfig,
    baseDir: options.baseDir,
    file: options.file,
  }
}

function refusalOf(value: unknown): string {
  if (typeof value === "function") {
    return `The configuration is a function: call it first, and settle what it gives.`
  }
  if (value === undefined || value === null) {
    return `The configuration is empty. Start with ${EXAMPLE}.`
  }
  return `The configuration must be an object such as ${EXAMPLE}, got ${kindOf(value)}.`
}

/** One part of the configuration, without what was left empty. */
function part(
  config: Readonly<Record<string, unknown>>,
  name: string,
  shape: Shape,
  found: Findings,
): unknown {
  if (!isGiven(config, name)) return Object.freeze({})
  const value = config[name]
  shape.check(value, [name], found)
  if (!isPlainRecord(value)) return Object.freeze({})
  return Object.freeze(
    Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null)),
  )
}
