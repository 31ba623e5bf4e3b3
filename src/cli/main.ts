import { readFileSync } from "node:fs"
import { join } from "node:path"
import { packageFolder } from "../hub/package-folder.ts"
import { didYouMean } from "../internal/suggest.ts"
import { readArgs } from "./args.ts"
import { allOptions, splitCommand } from "./command-line.ts"
import { COMMANDS } from "./commands/index.ts"
import { reportError, type ErrorContext } from "./errors.ts"
import { UsageError, type Command, type CommandArgs, type CommandIO } from "./model.ts"
import { print } from "./output.ts"
import { commonOptions, sourceOptions } from "./shared-options.ts"

/** Runs a command line, without the program's name; returns the exit code and never rejects. */
export async function main(argv: readonly string[], io: CommandIO): Promise<number> {
  const { name, rest } = splitCommand(argv)
  const invocation: Invocation = { isJson: argv.includes("--json"), io }
  try {
    return await dispatch(name, rest, io, invocation)
  } catch (error) {
    // The user who stopped it knows why it ended.
    if (io.signal.aborted && !(error instanceof UsageError)) return stoppedBy(io.signal)
    return reportError(error, invocation.io, invocation)
  }
}

/** The parsed parts of the command line, for error reports. */
type Invocation = ErrorContext & { io: CommandIO }

async function dispatch(
  name: string | undefined,
  rest: readonly string[],
  io: CommandIO,
  invocation: Invocation,
): Promise<number> {
  if (name === undefined) return await withoutCommand(rest, io)
  if (name === "help") return await help(rest, io)
  if (name === "__complete")
    return await (await import("./complete.ts")).complete(rest.slice(1), io)
  const command = await loadCommand(name)
  invocation.command = command.name
  const args = readArgs(rest, allOptions(command))
  invocation.args = args
  invocation.isJson = args.flag("json")
  invocation.io = { ...io, quiet: args.flag("quiet"), verbose: args.flag("verbose") }
  if (args.flag("help")) return await showHelp(command, io)
  checkArity(command, args, io)
  return await command.run(args, invocation.io)
}

async function withoutCommand(rest: readonly string[], io: CommandIO): Promise<number> {
  const version = { type: "boolean", short: "V", description: "Show the version" } as const
  const args = readArgs(rest, { ...sourceOptions, ...commonOptions, version })
  if (args.flag("version")) {
    print(io, packageVersion())
    return 0
  }
  const { generalHelp } = await import("./help.ts")
  if (args.flag("help")) {
    print(io, generalHelp(io))
    return 0
  }
  const asError = { ...io, stdout: io.stderr }
  print(asError, generalHelp(asError))
  return 2
}

function packageVersion(): string {
  const folder = packageFolder()
  if (folder === undefined) return "unknown"
  const text = readFileSync(join(folder, "package.json"), "utf8")
  return (JSON.parse(text) as { readonly version: string }).version
}

async function help([name]: readonly string[], io: CommandIO): Promise<number> {
  if (name !== undefined && !name.startsWith("-")) {
    return await showHelp(await loadCommand(name), io)
  }
  const { generalHelp } = await import("./help.ts")
  print(io, generalHelp(io))
  return 0
}

async function showHelp(command: Command, io: CommandIO): Promise<number> {
  const { commandHelp } = await import("./help.ts")
  print(io, commandHelp(command, io))
  return 0
}

async function loadCommand(name: string): Promise<Command> {
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (entry !== undefined) return { name, summary: entry.summary, ...(await entry.load()) }
  throw new UsageError(`There is no command "${name}".${didYouMean(name, Object.keys(COMMANDS))}`)
}

function checkArity(command: Command, { positionals }: CommandArgs, { program }: CommandIO): void {
  const [least, most] = command.arity
  const usage = `${program} ${command.name} ${command.usage}`.trimEnd()
  if (positionals.length < least) {
    throw new UsageError(`"${command.name}" needs more arguments: ${usage}`)
  }
  const extra = positionals[most]
  if (extra !== undefined) {
    throw new UsageError(`"${command.name}" does not know what to do with "${extra}": ${usage}`)
  }
}

/** The exit code of a signal, as in shells: 130 for Ctrl-C, 143 for SIGTERM. */
function stoppedBy(signal: AbortSignal): number {
  return signal.reason === "SIGTERM" ? 143 : signal.reason === "SIGHUP" ? 129 : 130
}
