import { resolve } from "node:path"
import type { SourceConfig } from "../../config/kinds/index.ts"
import type { MCPSource } from "../../config/kinds/mcp.ts"
import type { ResolvedConfig } from "../../config/model.ts"
import { didYouMean } from "../../internal/suggest.ts"
import { UsageError, type CommandArgs, type CommandIO } from "../model.ts"
import { withPath } from "../../config/source-shapes.ts"
import { SOURCE_NAMES } from "../shared-options.ts"
import { COMMAND_SOURCES } from "../sources/index.ts"

/** Options of single kinds of sources. */
const OWN_OPTIONS = SOURCE_NAMES.flatMap((kind) =>
  Object.keys(COMMAND_SOURCES[kind].ownOptions ?? {}),
)

/**
 * The configuration of a command line: sources that it defines, the file of `--config`,
 * both, or the file that is found here or above. Throws a `UsageError` when there is none.
 * With `fresh`, the file is read again: a user who trusted it agreed to its changes, too.
 */
export async function configFor(
  args: CommandArgs,
  io: CommandIO,
  { fresh }: { readonly fresh?: boolean } = {},
): Promise<ResolvedConfig> {
  const isAdHoc = [...SOURCE_NAMES, ...OWN_OPTIONS, "header"].some((name) => args.flag(name))
  const own = isAdHoc ? await (await import("./ad-hoc.ts")).adHocSources(args, io) : []
  const named = args.text("config")
  const file = named ?? (own.length > 0 ? undefined : await configFile(io))
  if (file !== undefined && named === undefined && fresh !== true) {
    await (await import("../trust/require-trust.ts")).requireTrust(file, args, io)
  }
  const config = file === undefined ? undefined : await load(resolve(io.cwd, file), io, fresh)
  const added = own.length === 0 && config !== undefined ? undefined : await resolveSources(own, io)
  const all =
    config === undefined || added === undefined ? (config ?? added) : merged(config, added)
  return withConnectTimeout(selectSources(all as ResolvedConfig, args), args)
}

/** Sets the time that MCP servers have to start. */
function withConnectTimeout(config: ResolvedConfig, args: CommandArgs): ResolvedConfig {
  const connectTimeout = args.count("connect-timeout")
  if (connectTimeout === undefined) return config
  const sources = config.sources.map((source) =>
    source.kind === "mcp"
      ? { ...source, config: { ...(source.config as MCPSource), connectTimeout } }
      : source,
  )
  if (connectTimeout > 0 && sources.some(({ kind }) => kind === "mcp"))
    return { ...config, sources }
  throw new UsageError(
    connectTimeout === 0
      ? "--connect-timeout takes a number of milliseconds, at least 1."
      : "--connect-timeout is for MCP servers; there is none.",
  )
}

async function configFile(io: CommandIO): Promise<string> {
  const { findConfig } = await import("../../hub/config-file/find.ts")
  const file = await findConfig(io.cwd)
  if (file !== undefined) return file
  throw new UsageError(
    `There is no operations.config.ts (or .js, .json, .yaml) in ${io.cwd} or above it.\n` +
      `Write one: ${io.program} init\n` +
      `Or name a source: ${io.program} list --openapi ./petstore.yaml`,
  )
}

async function load(path: string, { env }: CommandIO, fresh?: boolean): Promise<ResolvedConfig> {
  const { loadConfig } = await import("../../hub/config-file/load.ts")
  return await loadConfig(path, { env, fresh })
}

async function resolveSources(
  sources: readonly SourceConfig[],
  io: CommandIO,
): Promise<ResolvedConfig> {
  const { resolveConfig } = await import("../../config.ts")
  return resolveConfig({ sources }, { baseDir: io.cwd, shown: "the command line" })
}

/** Adds sources of the command line to those of the file, with unique names. */
function merged(config: ResolvedConfig, own: ResolvedConfig): ResolvedConfig {
  const names = new Set(config.sources.map(({ name }) => name))
  const added = own.sources.map((source) => {
    let { name } = source
    for (let count = 2; names.has(name); count++) name = `${source.name}_${count}`
    names.add(name)
    const namespace = source.namespace === source.name ? name : source.namespace
    // Relative paths of the command line start at the working folder.
    const located = withPath(source, (path) => resolve(own.baseDir, path))
    return { ...source, name, namespace, config: located }
  })
  return { ...config, sources: [...config.sources, ...added] }
}

/** Keeps only the sources that `--source` names. */
function selectSources(config: ResolvedConfig, args: CommandArgs): ResolvedConfig {
  const wanted = args.texts("source")
  if (wanted.length === 0) return config
  const names = config.sources.map(({ name }) => name)
  const wrong = wanted.find((name) => !names.includes(name))
  if (wrong !== undefined) {
    const hint = didYouMean(wrong, names)
    const there = names.length === 0 ? "none" : names.join(", ")
    throw new UsageError(`There is no source "${wrong}".${hint} Sources: ${there}.`)
  }
  return { ...config, sources: config.sources.filter(({ name }) => wanted.includes(name)) }
}
