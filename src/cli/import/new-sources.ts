import { relative, resolve, sep, dirname } from "node:path"
import { readFile, stat } from "node:fs/promises"
import { resolveConfig, type ResolvedSource } from "../../config.ts"
import { isNamespace } from "../../mcp/names.ts"
import type { Plain } from "../edit/add-source.ts"
import { UsageError, type CommandArgs, type CommandIO, type SourceArgument } from "../model.ts"
import { SOURCE_NAMES } from "../shared-options.ts"
import { adHocSources } from "../target/ad-hoc.ts"
import { withPath } from "../../config/source-shapes.ts"
import type { SourceKind } from "../../config/kinds/index.ts"
import { isAddress } from "../../config/names.ts"
import { serversOf, type FoundSource } from "../init/discover.ts"
import { COMMAND_SOURCES } from "../sources/index.ts"

/** A source to add, as written in a configuration. */
export interface NewSource {
  readonly name: string
  readonly source: Plain
  /** The file of an editor that it is from, and the variables for the secrets in there. */
  readonly file?: string | undefined
  readonly variables?: readonly string[] | undefined
}

/** The sources that a command line adds; paths are relative to the configuration. */
export async function newSources(
  args: CommandArgs,
  io: CommandIO,
  baseDir: string,
): Promise<NewSource[]> {
  const [text, second] = [...args.positionals, ...SOURCE_NAMES.flatMap((name) => args.texts(name))]
  if (text === undefined || second !== undefined) {
    const got = text === undefined ? "none" : "more than one"
    throw new UsageError(`"import" adds one source at a time; got ${got}.`)
  }
  const what = args.positionals.length === 0 ? undefined : await recognise(text, io.cwd)
  if (what !== undefined && "servers" in what) {
    return named(
      what.servers.map((server) => ({ ...server, file: text })),
      args,
    )
  }
  const written = await adHocSources(args, io, what)
  const resolved = resolveConfig({ sources: written }, { baseDir: io.cwd, file: undefined })
  const [literal] = resolved.warnings ?? []
  if (literal !== undefined) throw new UsageError(`"${literal.path}" ${literal.message}`)
  return named(
    resolved.sources.map((source) => fromResolved(source, io.cwd, baseDir)),
    args,
  )
}

function named(sources: readonly NewSource[], args: CommandArgs): NewSource[] {
  const name = args.text("name")
  if (name === undefined) return [...sources]
  if (sources.length > 1) {
    throw new UsageError("--name is for one source; this file has several.")
  }
  // In a script `__proto__` is not an ordinary member.
  if (!isNamespace(name) || name === "__proto__") {
    throw new UsageError(`--name takes letters, digits, "_" and "-"; got "${name}".`)
  }
  return sources.map((source) => ({ ...source, name }))
}

function fromResolved(resolved: ResolvedSource, cwd: string, baseDir: string): NewSource {
  // Paths relative to the working folder become paths relative to the configuration.
  const { namespace, ...moved } = withPath(resolved, (path) => {
    const from = relative(baseDir, resolve(cwd, path)).replaceAll(sep, "/")
    return from.startsWith(".") || /^[A-Za-z]:|^\//.test(from) ? from : `./${from}`
  })
  const { name } = resolved
  const isOwn = namespace !== undefined && namespace !== name
  const source = JSON.parse(JSON.stringify(isOwn ? { namespace, ...moved } : moved)) as Plain
  return { name, source }
}

/** The meaning of an argument: an equivalent option, or the servers of an editor's file. */
type Recognised =
  | { readonly option: SourceKind; readonly text: string }
  | { readonly servers: readonly FoundSource[] }

/** Detects which kind of source an argument names; throws a `UsageError` when it is unclear. */
export async function recognise(text: string, cwd: string): Promise<Recognised> {
  const path = resolve(cwd, text)
  const argument = await argumentOf(text, path)
  const option = SOURCE_NAMES.find((kind) => COMMAND_SOURCES[kind].recognises(argument))
  if (argument.at === "command" && looksLikePath(text)) {
    throw new UsageError(`There is no file or folder "${text}" in ${cwd}.`)
  }
  if (option !== undefined) return { option, text }
  if (argument.at === "address") throw unclear(text)
  const servers = await serversOf("", path)
  if (servers.length > 0) return { servers }
  throw new UsageError(
    `"${text}" is neither an OpenAPI document nor a file of an editor with MCP servers. If it is a document, say so: --openapi ${text}`,
  )
}

async function argumentOf(text: string, path: string): Promise<SourceArgument> {
  if (isAddress(text)) return { text, at: "address" }
  const stats = await stat(path).catch(() => undefined)
  if (stats?.isDirectory() === true) return { text, at: "folder" }
  if (stats?.isFile() !== true) return { text, at: "command" }
  if (/\.[cm]?[jt]sx?$/i.test(path)) {
    throw new UsageError(
      `"${text}" is a module. Give its folder (${dirname(text)}), or the command that starts it as an MCP server ("node ${text}").`,
    )
  }
  return { text, at: "file", content: await readFile(path, "utf8") }
}

function unclear(text: string): UsageError {
  const ways = SOURCE_NAMES.flatMap((kind) => {
    const { atAddress } = COMMAND_SOURCES[kind]
    return atAddress === undefined ? [] : [`--${kind} ${text} for ${atAddress}`]
  })
  return new UsageError(`What is at ${text}? Say so: ${ways.join(", ")}.`)
}

/** Whether a text is one word with a slash or a known extension, unlike a command. */
function looksLikePath(text: string): boolean {
  return !/\s/.test(text) && /^[.~/]|[\\/]|\.(?:json|ya?ml|[cm]?[jt]s)$/i.test(text)
}
