import { readFile } from "node:fs/promises"
import { basename, dirname, relative, resolve } from "node:path"
import { resolveConfig, type ResolvedConfig } from "../../config.ts"
import { findConfig } from "../../hub/config-file/find.ts"
import { loadConfig } from "../../hub/config-file/load.ts"
import type { SourceReport, SourceStatus } from "../../hub/model.ts"
import { countsText, reportLines } from "../doctor/report-lines.ts"
import { addSource, formatOf, sourceSnippet } from "../edit/add-source.ts"
import { newSources, type NewSource } from "../import/new-sources.ts"
import { variableLines } from "../init/discover.ts"
import { UsageError, type CommandDefinition, type CommandArgs, type CommandIO } from "../model.ts"
import {
  printError,
  note,
  oneLine,
  print,
  printJson,
  printText,
  escapeForTerminal,
  styled,
} from "../output.ts"
import { writeWhole } from "../own-file.ts"
import { missingLines, missingPackages, packagesOfSources } from "../packages.ts"
import { reasonOfSource } from "../target/index.ts"
import { openHub } from "../target/open-hub.ts"
import { requireTrust } from "../trust/require-trust.ts"
import { keepingTrust } from "../trust/store.ts"
import { unbroken } from "../wrap.ts"

export const command: CommandDefinition = {
  usage: "<document|address|command|folder>",
  details: [
    "Opens the source once, says what became of its operations, and writes it into the configuration,",
    "which otherwise stays as it is, comments included. A source that cannot be opened is not added,",
    "unless --force says so. Credentials are given as references, never as they are.",
  ].join(" "),
  examples: [
    ["import ./petstore.yaml", "an OpenAPI document"],
    ['import "npx -y @example/files ."', "an MCP server, by its command"],
    ["import .mcp.json", "the MCP servers of an editor"],
    [
      "import --openapi https://api.example.com/v1 --header 'x-api-key: ${env:KEY}' --name example",
      "with a credential and a name",
    ],
  ],
  options: {
    name: { type: "string", value: "name", description: "What the source is called" },
    force: { type: "boolean", description: "Add it even if it cannot be opened" },
    "dry-run": { type: "boolean", description: "Show what would be added" },
  },
  hasSources: true,
  complete: "file",
  arity: [0, 1],
  run,
}

/** The outcome of adding a source. */
interface Outcome {
  readonly name: string
  readonly source: unknown
  readonly file: string
  readonly written: boolean
  readonly state: SourceStatus["state"]
  readonly reason?: string | undefined
  readonly report?: SourceReport | undefined
  /** Text to add by hand. */
  readonly snippet?: string | undefined
}

async function run(args: CommandArgs, io: CommandIO): Promise<number> {
  const wrong = ["hub", "source", "token"].find((name) => args.flag(name))
  if (wrong !== undefined)
    throw new UsageError(`"import" works on a configuration: without --${wrong}.`)
  const file = await configFile(args, io)
  if (!args.flag("config")) await requireTrust(file, args, io)
  const config = await loadConfig(file, { env: io.env })
  const added = await newSources(args, io, dirname(file))
  for (const { name } of added) refuseTaken(name, config)
  const sourceNames = config.sources.map(({ name }) => name)
  const outcomes: Outcome[] = []
  for (const source of added) {
    const outcome = await addOne(source, file, sourceNames, args, io)
    if (outcome.written) sourceNames.push(source.name)
    outcomes.push(outcome)
    if (args.flag("json")) continue
    printOutcome(outcome, args, io)
    for (const line of variableLines(source, io)) note(io, line)
  }
  if (args.flag("json")) printJson(io, outcomes.length === 1 ? outcomes[0] : outcomes)
  const isDry = args.flag("dry-run")
  return outcomes.every(({ written, state }) => (isDry ? state === "ready" : written)) ? 0 : 1
}

async function configFile(args: CommandArgs, io: CommandIO): Promise<string> {
  const path = args.text("config")
  const file = path === undefined ? await findConfig(io.cwd) : resolve(io.cwd, path)
  if (file !== undefined && /^\.?mcp\.jsonc?$/.test(basename(file))) {
    throw new UsageError(
      `"${path}" belongs to an editor. Add its servers to a configuration: ${io.program} import ${path}`,
    )
  }
  if (file !== undefined) return file
  throw new UsageError(
    `There is no configuration in ${io.cwd} or above it to add a source to. Write one: ${io.program} init`,
  )
}

function refuseTaken(name: string, { sources, file = "" }: ResolvedConfig): void {
  if (!sources.some((source) => source.name === name)) return
  throw new UsageError(
    `${file} has a source "${name}" already. Give this one another name: --name <name>`,
  )
}

async function addOne(
  added: NewSource,
  file: string,
  sourceNames: readonly string[],
  args: CommandArgs,
  io: CommandIO,
): Promise<Outcome> {
  const { name, source } = added
  const { state, reason, report } = await tryOut(added, file, io)
  const isWanted = state === "ready" || args.flag("force")
  const written =
    isWanted &&
    !args.flag("dry-run") &&
    (await keepingTrust(file, io, () => writeSource(file, added, sourceNames, io)))
  const snippet = written ? undefined : sourceSnippet(formatOf(file), name, source)
  return { name, source, file, written, state, reason, report, snippet }
}

type Tried = Pick<Outcome, "state" | "reason" | "report">

/** Opens a source once, alone, as the hub would. */
async function tryOut({ name, source }: NewSource, file: string, io: CommandIO): Promise<Tried> {
  const config = resolveConfig(
    { sources: { [name]: source } },
    { baseDir: dirname(file), file: undefined },
  )
  const missing = missingPackages(packagesOfSources(config.sources))
  if (missing.length > 0) return { state: "failed", reason: missingLines(missing, io).join(" ") }
  await using hub = await openHub(config, io)
  const [status] = hub.sources
  const { state = "failed", reason } = status ?? {}
  return { state, reason, report: hub.report(name) }
}

function printOutcome(outcome: Outcome, args: CommandArgs, io: CommandIO): void {
  const { name, file, written, state, reason, report, snippet } = outcome
  const { green, red } = styled(io)
  const place = escapeForTerminal(relative(io.cwd, file) || file)
  if (state === "ready" && report !== undefined) {
    printText(io, `${green("✓")} ${oneLine(name)}: ${countsText(report)}`)
    for (const line of reportLines(report, io)) printText(io, `  ${line}`)
  } else {
    const why = reasonOfSource({ name, reason: reason ?? "it could not be opened" })
    printError(io, `${red("✗")} ${oneLine(name)}: ${oneLine(why)}`)
  }
  if (written) {
    note(
      io,
      `"${name}" is in ${place} now. See its operations: ${unbroken(`${io.program} list --source ${name}`)}`,
    )
    return
  }
  if (state !== "ready" && !args.flag("force")) {
    printError(io, "It was not added. Fix that, or add it all the same with --force.")
    return
  }
  const isDry = args.flag("dry-run")
  note(
    io,
    isDry
      ? `This would go under "sources" of ${place}:`
      : `Put this under "sources" of ${place} by hand:`,
  )
  print(io, snippet ?? "")
}

/**
 * Adds a source to a configuration file; `false` when you have to do it by hand.
 *
 * A script is run afterwards: if it does not have the new source and all previous ones, the file is
 * restored.
 */
export async function writeSource(
  file: string,
  { name, source }: NewSource,
  sourceNames: readonly string[],
  io: CommandIO,
): Promise<boolean> {
  const format = formatOf(file)
  const before = await readFile(file, "utf8")
  const after = addSource(before, format, name, source)
  if (after === undefined) return false
  await writeWhole(file, file, after)
  if (format !== "js") return true
  try {
    const { sources } = await loadConfig(file, { env: io.env, fresh: true })
    const names = new Set(sources.map((one) => one.name))
    if ([name, ...sourceNames].every((one) => names.has(one))) return true
  } catch {
    // The edit broke the file, so it is undone below.
  }
  await writeWhole(file, file, before)
  return false
}
