import { COMMANDS } from "./commands/index.ts"
import { allOptions, splitCommand } from "./command-line.ts"
import { optionOf, readArgs } from "./args.ts"
import type { CommandArgs, CommandDefinition, CommandIO, OptionSpec, OptionSpecs } from "./model.ts"
import { commonOptions, sourceOptions } from "./shared-options.ts"

const MAX_LINES = 1000
/** Characters that are safe in a shell without quoting. */
const SAFE = /^[\w.@:=[\]/-]+$/

/**
 * Prints completions of a command line for the scripts of `operations completion`: a line
 * each, or `:file` and `:directory` for completion by the shell. Never fails.
 *
 * Opens no source, hub or configuration: it uses the names that earlier commands have seen.
 */
export async function complete(words: readonly string[], io: CommandIO): Promise<number> {
  const silent: CommandIO = { ...io, quiet: true, stderr: { write: () => true } }
  try {
    const current = words.at(-1) ?? ""
    const suggestions = await candidates(words.slice(0, -1), current, silent)
    const lines = suggestions.filter(
      (one) => one.startsWith(":") || (one.startsWith(current) && SAFE.test(one)),
    )
    io.stdout.write(
      lines
        .slice(0, MAX_LINES)
        .map((line) => `${line}\n`)
        .join(""),
    )
  } catch {
    // An unfinished line is often invalid: no completions, no message.
  }
  return 0
}

async function candidates(
  before: readonly string[],
  current: string,
  io: CommandIO,
): Promise<readonly string[]> {
  const { name, rest } = splitCommand(before)
  const entry = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  const command = entry === undefined ? undefined : await entry.load()
  const options =
    command === undefined ? { ...sourceOptions, ...commonOptions } : allOptions(command)
  const isOver = before.includes("--")
  const previous = isOver ? undefined : optionOf(before.at(-1), options)
  if (previous?.[1].type === "string")
    return await valuesOf(previous, rest.slice(0, -1), options, io)
  if (current.startsWith("-") && !isOver) return optionWords(options, command)
  if (command === undefined)
    return name === undefined || name === "help" ? Object.keys(COMMANDS) : []
  return await argumentsOf(command, readArgs(rest, options), io)
}

function optionWords(
  options: OptionSpecs,
  command: CommandDefinition | undefined,
): readonly string[] {
  const words = Object.keys(options).map((name) => `--${name}`)
  return command === undefined ? [...words, "--version"] : words
}

async function valuesOf(
  [name, spec]: readonly [string, OptionSpec],
  rest: readonly string[],
  options: OptionSpecs,
  io: CommandIO,
): Promise<readonly string[]> {
  if (name === "source") {
    const { recall } = await import("./target/remembered.ts")
    return (await recall(readArgs(rest, options), io)).sources
  }
  return offered(spec.complete)
}

function offered(kind: OptionSpec["complete"]): readonly string[] {
  if (typeof kind === "string") return [`:${kind}`]
  return kind ?? []
}

async function argumentsOf(
  command: CommandDefinition,
  args: CommandArgs,
  io: CommandIO,
): Promise<readonly string[]> {
  const { complete: kind, arity } = command
  const { positionals } = args
  if (positionals.length >= arity[1]) return []
  if (kind !== "operation") return offered(kind)
  const { recall } = await import("./target/remembered.ts")
  const { operations, inputs } = await recall(args, io)
  const [id] = positionals
  if (id === undefined) return operations
  return (Object.hasOwn(inputs, id) ? (inputs[id] ?? []) : []).map((name) => `${name}=`)
}
