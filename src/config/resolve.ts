import { validateOptions, type OptionsSchema } from "../internal/options.ts"
import { isRecord } from "../internal/guards.ts"
import {
  approvalsShape,
  auditShape,
  configSchema,
  middlewareShape,
  policiesShape,
  registryShape,
  serverShape,
  telemetryShape,
} from "./config-shapes.ts"
import type { ApprovalRule } from "../core/approvals.ts"
import type { PolicyRule } from "../core/resilience.ts"
import type { Locate } from "../internal/located.ts"
import { SOURCES } from "./kinds/index.ts"
import { ConfigError, type ConfigFault, faultAt } from "./error.ts"
import type { AuditConfig, MiddlewareEntry, ResolvedConfig } from "./model.ts"
import { resolveSources } from "./resolve-sources.ts"
import { checkNames, type IssueReporter, isGiven, kindOf, type Shape } from "./field-checks.ts"

export interface ResolveConfigOptions {
  /** The folder that relative paths start from. */
  readonly baseDir: string
  /** The file it was read from. */
  readonly file?: string | undefined
  /** The file's name in messages; default: `file`. */
  readonly shown?: string | undefined
  /** Finds the line of a key in the file. */
  readonly where?: Locate | undefined
}

export const RESOLVE_CONFIG_OPTIONS: OptionsSchema<ResolveConfigOptions> = {
  baseDir: { required: "text" },
  file: "text",
  shown: "text",
  where: "function",
}

const EXAMPLE = `{ sources: { tools: { scan: "./operations" } } }`

/** Hints for names that users often try. */
const HINTS: Readonly<Record<string, string>> = {
  source: `Write "sources", an object by name.`,
  servers: `Write "mcpServers" for MCP servers, "server" for how the hub is served.`,
  ...Object.fromEntries(
    Object.entries(SOURCES).map(([kind, { example }]) => [
      kind,
      `Write a source: { "sources": { "${example}": { "${kind}": … } } }.`,
    ]),
  ),
  mcp: `Write "mcpServers", or a source with "mcp".`,
  port: `Write it into "server".`,
  host: `Write it into "server".`,
}

/**
 * Validates a configuration and fills in the defaults.
 *
 * Throws a `ConfigError` that lists every mistake. It reads no files and resolves no references.
 */
export function resolveConfig(value: unknown, options: ResolveConfigOptions): ResolvedConfig {
  validateOptions("resolveConfig", options, RESOLVE_CONFIG_OPTIONS)
  const faults: ConfigFault[] = []
  const warnings: ConfigFault[] = []
  const report: IssueReporter = {
    error: (keys, message) => faults.push(faultAt(keys, message, options.where)),
    warn: (keys, message) => warnings.push(faultAt(keys, message, options.where)),
  }
  const sections = resolveSections(value, options, report)
  if (faults.length > 0) {
    faults.sort((left, right) => (left.line ?? 0) - (right.line ?? 0))
    throw new ConfigError(faults, { file: options.shown ?? options.file })
  }
  return Object.freeze({ ...sections, warnings: Object.freeze(warnings) })
}

function resolveSections(
  value: unknown,
  options: ResolveConfigOptions,
  report: IssueReporter,
): ResolvedConfig {
  const config = isRecord(value) ? value : {}
  if (config !== value) report.error([], describeInvalidRoot(value))
  const known = Object.keys(configSchema["properties"] as object)
  checkNames(config, [], report, known, { hints: HINTS })
  return {
    sources: resolveSources(config, report),
    server: fieldsOf(section(config, "server", serverShape, report)),
    registry: fieldsOf(section(config, "registry", registryShape, report)),
    middleware: itemsOf(section(config, "middleware", middlewareShape, report)).map((entry) =>
      Object.freeze(typeof entry === "string" ? { use: entry } : { ...(entry as MiddlewareEntry) }),
    ),
    policies: itemsOf(section(config, "policies", policiesShape, report)) as readonly PolicyRule[],
    approvals: section(config, "approvals", approvalsShape, report) as readonly ApprovalRule[],
    audit: isGiven(config, "audit")
      ? (fieldsOf(section(config, "audit", auditShape, report)) as AuditConfig)
      : undefined,
    telemetry: isGiven(config, "telemetry")
      ? fieldsOf(section(config, "telemetry", telemetryShape, report))
      : undefined,
    baseDir: options.baseDir,
    file: options.file,
  }
}

function describeInvalidRoot(value: unknown): string {
  if (typeof value === "function") {
    return `The configuration is a function: call it first, and pass its result.`
  }
  if (value === undefined || value === null) {
    return `The configuration is empty. Start with ${EXAMPLE}.`
  }
  return `The configuration must be an object such as ${EXAMPLE}, got ${kindOf(value)}.`
}

/** Checks one section of the configuration; `undefined` when it has none. */
function section(
  config: Readonly<Record<string, unknown>>,
  name: string,
  shape: Shape,
  report: IssueReporter,
): unknown {
  if (!isGiven(config, name)) return undefined
  shape.check(config[name], [name], report)
  return config[name]
}

/** A section without its empty entries. */
function fieldsOf(value: unknown): object {
  const entries = isRecord(value) ? Object.entries(value) : []
  return Object.freeze(Object.fromEntries(entries.filter(([, item]) => item !== null)))
}

function itemsOf(value: unknown): readonly unknown[] {
  return Object.freeze(Array.isArray(value) ? [...(value as readonly unknown[])] : [])
}
