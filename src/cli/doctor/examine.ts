import type { ConfigFault, ResolvedConfig } from "../../config.ts"
import type { MCPSource } from "../../config/kinds/mcp.ts"
import { formatFault } from "../../config/error.ts"
import { isCallError } from "../../core/errors.ts"
import type { Hub, SourceReport, SourceStatus } from "../../hub/model.ts"
import { isRecord } from "../../internal/guards.ts"
import { compilePattern } from "../../internal/pattern.ts"
import type { SurfaceCost } from "../../to-mcp.ts"
import type { CommandArgs, CommandIO } from "../model.ts"
import { configFor } from "../target/config.ts"
import { missingPackages, packagesOfServer, packagesOfSources } from "../packages.ts"
import type { NeededPackage } from "../packages.ts"
import type { HubAddress } from "../target/hub-address.ts"
import { getFromHub } from "../target/hub-client.ts"
import { openHub } from "../target/open-hub.ts"
import { checkCredentials, type CredentialCheck } from "./credentials.ts"

/** The status of a source with its import report. */
export interface SourceCheck extends SourceStatus {
  readonly report?: SourceReport | undefined
}

/** Result of an examination. */
export interface Diagnosis {
  readonly ok: boolean
  readonly node: string
  /** Absent for a running hub. */
  readonly config?: ConfigCheck | undefined
  readonly hub?: string | undefined
  readonly credentials: readonly CredentialCheck[]
  /** Optional packages that are needed and not installed. */
  readonly missingPackages: readonly NeededPackage[]
  readonly sources: readonly SourceCheck[]
  /** What a model reads of the operations as tools; with `--tokens`. */
  readonly tools?: SurfaceCost | undefined
}

export interface ConfigCheck {
  readonly ok: boolean
  readonly file?: string | undefined
  readonly error?: string | undefined
  readonly faults: readonly ConfigFault[]
  readonly warnings: readonly string[]
}

/** Reads the configuration, checks credentials, and opens every source once. */
export async function examine(args: CommandArgs, io: CommandIO): Promise<Diagnosis> {
  const node = process.versions.node
  let config: ResolvedConfig
  try {
    config = await configFor(args, io)
  } catch (error) {
    if (!isCallError(error)) throw error
    const nothing = { credentials: [], missingPackages: [], sources: [] }
    return { ok: false, node, config: brokenConfig(error), ...nothing }
  }
  const credentials = await checkCredentials(config, io.env)
  await using hub = await openHub(config, io)
  const sources = hub.sources.map((status) => checked(hub, status))
  const { file, warnings = [] } = config
  const missing = missingPackages([
    ...packagesOfServer(config),
    ...packagesOfSources(config.sources),
  ])
  const ok =
    areWell(sources) &&
    credentials.every(({ state }) => state !== "missing") &&
    missing.every(({ isOptional }) => isOptional)
  const texts = warnings.map((warning) => formatFault(warning, undefined))
  const all = [...texts, ...sharedSessions(config), ...(await ruleWarnings(config, hub))]
  const check = { ok: true, file, faults: [], warnings: all }
  const tools = args.flag("tokens") ? await costOf(hub) : undefined
  return { ok, node, config: check, credentials, missingPackages: missing, sources, tools }
}

/** Asks a running hub for the status of its sources. */
export async function examineHub(
  address: HubAddress,
  args: CommandArgs,
  io: CommandIO,
): Promise<Diagnosis> {
  const get = (path: string): Promise<unknown> => getFromHub(address, path, io.signal)
  const answer = await get("/hub/sources")
  const listed = isRecord(answer) && Array.isArray(answer["sources"]) ? answer["sources"] : []
  const sources = await Promise.all(
    (listed as SourceStatus[]).map(async (status): Promise<SourceCheck> => {
      if (status.state !== "ready") return status
      const path = `/hub/sources/${encodeURIComponent(status.name)}/report`
      return { ...status, report: (await get(path)) as SourceReport }
    }),
  )
  const tools = args.flag("tokens") ? ((await get("/hub/tools")) as SurfaceCost) : undefined
  const { node } = process.versions
  const ok = areWell(sources)
  return { ok, node, hub: address.url, credentials: [], missingPackages: [], sources, tools }
}

async function costOf(hub: Hub): Promise<SurfaceCost> {
  const [{ toolCost }, { internalsOf }] = await Promise.all([
    import("../../hub/tool-cost.ts"),
    import("../../hub/create-hub.ts"),
  ])
  return toolCost(hub.registry, internalsOf(hub).sourceOf, "all")
}

function areWell(sources: readonly SourceStatus[]): boolean {
  return sources.every(({ state }) => state === "ready" || state === "disabled")
}

function checked(hub: Hub, status: SourceStatus): SourceCheck {
  const report = status.state === "ready" ? hub.report(status.name) : undefined
  return report === undefined ? status : { ...status, report }
}

function brokenConfig(error: Error): ConfigCheck {
  const { faults = [], file } = error as { faults?: readonly ConfigFault[]; file?: string }
  return { ok: false, file, error: error.message, faults, warnings: [] }
}

/** Warnings about MCP servers whose session callers share, although the hub can tell them apart. */
function sharedSessions({ server, sources }: ResolvedConfig): string[] {
  if (server.apiKeys === undefined && server.jwt === undefined) return []
  return sources.flatMap(({ kind, name, config }) => {
    if (kind !== "mcp") return []
    const { mcp, sessions = typeof mcp === "string" ? undefined : mcp.sessions } =
      config as MCPSource
    if (sessions !== "shared") return []
    return [
      `sources.${name}: all callers share one session with this MCP server ("sessions": "shared"). What the server keeps for it, such as an open page, is seen by each of them.`,
    ]
  })
}

/**
 * Warnings about policies and middleware for operations that do not exist, and about rules of approvals. None while a source
 * is not open: its operations may be the ones.
 */
async function ruleWarnings(config: ResolvedConfig, hub: Hub): Promise<string[]> {
  if (hub.sources.some(({ state }) => state !== "ready" && state !== "disabled")) return []
  const ids = hub.registry.list().map(({ namespace, name }) => `${namespace}.${name}`)
  const warn = (key: string, entries: readonly { readonly match?: unknown }[] = []): string[] =>
    entries.flatMap(({ match }, index) =>
      patternsOf(match)
        .filter((pattern) => !ids.some(compilePattern(pattern)))
        .map((pattern) => `${key}[${index}]: no operation matches "${pattern}".`),
    )
  return [
    ...warn("policies", config.policies),
    ...warn("middleware", config.middleware),
    ...(await hub.registry.reviewApprovals()).map((warning) => `approvals, ${warning}`),
  ]
}

function patternsOf(match: unknown): readonly string[] {
  if (match === undefined) return []
  return (Array.isArray(match) ? match : [match]) as readonly string[]
}
