import { mkdir, readdir, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { basename, join, relative, resolve } from "node:path"
import { resolveConfig, type ResolvedConfig } from "../../config.ts"
import { UsageError, type CommandDefinition, type CommandArgs, type CommandIO } from "../model.ts"
import { note, print, printJson, escapeForTerminal, styled } from "../output.ts"
import { discover, variableLines, type FoundSource } from "../init/discover.ts"
import { configName, configText, exampleText, type InitFormat } from "../init/templates.ts"
import { missingLines, missingPackages, packagesOfSources } from "../packages.ts"
import { unbroken } from "../wrap.ts"
import { configConsequences } from "../trust/consequences.ts"
import { showAndAsk } from "../trust/require-trust.ts"
import { trustFile } from "../trust/store.ts"

const FORMATS: readonly InitFormat[] = ["ts", "js", "yaml", "json"]

export const command: CommandDefinition = {
  usage: "[folder]",
  details: [
    "Writes operations.config.* and an example operation; files that are there stay as they are.",
    "OpenAPI documents and MCP servers that the folder has already become sources. Of an editor's",
    "MCP servers no secret is copied: the configuration refers to variables instead. What was found",
    "may run programs: it is shown, and trusted only when you agree.",
  ].join(" "),
  examples: [
    ["init", "a configuration here, in TypeScript where that can be run"],
    ["init --format yaml tools", "in YAML, in the folder tools"],
  ],
  options: {
    format: {
      type: "string",
      value: FORMATS.join("|"),
      description: "The language of the configuration",
      complete: FORMATS,
    },
    yes: {
      type: "boolean",
      short: "y",
      description: "Trust what the folder has, without a question",
    },
    "dry-run": { type: "boolean", description: "Show what would be written" },
  },
  hasSources: false,
  arity: [0, 1],
  run,
}

/** A file to write. */
interface Draft {
  readonly path: string
  readonly text: string
}

async function run(args: CommandArgs, io: CommandIO): Promise<number> {
  const folder = resolve(io.cwd, args.positionals[0] ?? ".")
  const files = await readdir(folder).catch(() => [])
  refuseSecond(files, folder, io)
  const format = formatFor(args, folder)
  const hasPackage = canResolve("@alkdev/operations/package.json", folder)
  const discovered = await discover(folder)
  const drafts = await draftsFor(folder, format, discovered, hasPackage)
  const isDry = args.flag("dry-run")
  if (!isDry) {
    for (const draft of drafts) await writeNew(draft)
  }
  const written = drafts.map(({ path }) => relative(io.cwd, path) || basename(path))
  const config = configOf(discovered, folder)
  // Without an example of ours, the folder has modules already.
  const isForeign = discovered.length > 0 || drafts.length === 1
  const consequences = isForeign ? configConsequences(config) : []
  if (!args.flag("json")) {
    printResult(io, { drafts, written, discovered, isDry, hasPackage, folder, config })
  }
  const title = "Opening the configuration, with what the folder had before:"
  const trusted = isForeign ? await showAndAsk(title, consequences, args, io) : !isDry
  // If that cannot be stored, the next command asks.
  if (trusted) await trustFile(drafts[0]!.path, io).catch(() => undefined)
  else if (!isDry)
    note(io, `It is not trusted yet: ${unbroken(`${io.program} trust ${written[0]}`)}`)
  if (args.flag("json")) {
    const sources = discovered.map(({ name, file, variables }) => ({ name, file, variables }))
    const outcome = isDry ? { written: [], would: drafts } : { written }
    printJson(io, { ...outcome, sources, consequences, trusted })
  }
  return 0
}

function refuseSecond(files: readonly string[], folder: string, { cwd, program }: CommandIO): void {
  const config = files.find((file) =>
    /^operations\.config\.(?:[cm]?[jt]s|jsonc?|ya?ml)$/.test(file),
  )
  if (config === undefined) return
  const path = relative(cwd, join(folder, config))
  throw new UsageError(
    `"${path}" is there already, and stays as it is. Add a source to it: ${program} import <document|command|folder>`,
  )
}

function formatFor(args: CommandArgs, folder: string): InitFormat {
  const asked = args.text("format")
  if (asked === undefined) return canRunTypeScript(folder) ? "ts" : "js"
  const format = FORMATS.find((one) => one === asked.toLowerCase())
  if (format !== undefined) return format
  throw new UsageError(`There is no format "${asked}"; there are ${FORMATS.join(", ")}.`)
}

/** Whether TypeScript can run: with a newer Node, or with the package "tsx". */
function canRunTypeScript(folder: string): boolean {
  const { typescript } = process.features as { typescript?: unknown }
  return (typescript !== undefined && typescript !== false) || canResolve("tsx/esm/api", folder)
}

function canResolve(name: string, folder: string): boolean {
  try {
    createRequire(join(folder, "index.js")).resolve(name)
    return true
  } catch {
    return false
  }
}

async function draftsFor(
  folder: string,
  format: InitFormat,
  discovered: readonly FoundSource[],
  hasPackage: boolean,
): Promise<Draft[]> {
  const config = {
    path: join(folder, configName(format)),
    text: configText(format, discovered, hasPackage),
  }
  const modules = await readdir(join(folder, "operations")).catch(() => [])
  if (modules.length > 0) return [config]
  const isTypeScript = format === "ts" || (format !== "js" && canRunTypeScript(folder))
  const path = join(folder, "operations", isTypeScript ? "hello.ts" : "hello.mjs")
  return [config, { path, text: exampleText(isTypeScript, hasPackage) }]
}

async function writeNew({ path, text }: Draft): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true })
  // Fails if a file was created in the meantime.
  await writeFile(path, text, { flag: "wx" })
}

/** The configuration that is written. */
function configOf(discovered: readonly FoundSource[], baseDir: string): ResolvedConfig {
  const found = discovered.map(({ name, source }) => [name, source])
  const sources = Object.fromEntries([
    ["local", { scan: "./operations", output: "strict" }],
    ...found,
  ])
  return resolveConfig({ sources }, { baseDir, file: undefined })
}

interface InitResult {
  readonly drafts: readonly Draft[]
  readonly written: readonly string[]
  readonly discovered: readonly FoundSource[]
  readonly isDry: boolean
  readonly hasPackage: boolean
  readonly folder: string
  readonly config: ResolvedConfig
}

function printResult(
  io: CommandIO,
  { drafts, written, discovered, isDry, hasPackage, folder, config }: InitResult,
): void {
  const style = styled(io)
  for (const [at, { text }] of drafts.entries()) {
    print(
      io,
      isDry
        ? `${style.bold(`${written[at]}:`)}\n${text}`
        : `${style.green("wrote")} ${written[at]}`,
    )
  }
  for (const source of discovered) {
    note(io, `Source "${source.name}" is from ${escapeForTerminal(source.file)}.`)
    for (const line of variableLines(source, io)) note(io, line)
  }
  if (isDry) return
  if (written.some((path) => path.endsWith(".ts")) && !canRunTypeScript(folder)) {
    note(io, `To run TypeScript with this version of Node: ${unbroken("npm install tsx")}`)
  }
  if (!hasPackage)
    note(io, `For types in your editor: ${unbroken("npm install @alkdev/operations")}`)
  const missing = missingPackages(packagesOfSources(config.sources))
  for (const line of missingLines(missing, io)) note(io, escapeForTerminal(line))
  const place = folder === io.cwd ? "" : ` -c ${written[0]}`
  note(io, `See what there is:   ${unbroken(`${io.program} list${place}`)}`)
  note(io, `Serve it:            ${unbroken(`${io.program} serve${place}`)}`)
}
