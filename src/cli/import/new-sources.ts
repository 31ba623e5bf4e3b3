import { relative, resolve, sep } from "node:path"
import { resolveConfig, type ResolvedSource } from "../../config.ts"
import { isNamespace } from "../../mcp/names.ts"
import type { Plain } from "../edit/add-source.ts"
import { UsageError, type CommandArgs, type CommandIO } from "../model.ts"
import { SOURCE_NAMES } from "../shared-options.ts"
import { adHocSources } from "../target/ad-hoc.ts"
import { recognise } from "./recognise.ts"
import { withPath } from "../../config/source-shapes.ts"

/** A source to add, as written in a configuration. */
export interface NewSource {
  readonly name: string
  readonly source: Plain
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
      what.servers.map(({ name, source }) => ({ name, source })),
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
  return sources.map(({ source }) => ({ name, source }))
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
