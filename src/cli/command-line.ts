import type { CommandDefinition, OptionSpecs } from "./model.ts"
import { commonOptions, sourceOptions } from "./shared-options.ts"
import { optionOf } from "./args.ts"

/** Finds the command; shared options may precede it. */
export function splitCommand(argv: readonly string[]): {
  readonly name: string | undefined
  /** All other words, in order. */
  readonly rest: readonly string[]
} {
  const shared: OptionSpecs = { ...sourceOptions, ...commonOptions }
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] as string
    if (word === "--") break
    if (!word.startsWith("-")) {
      return { name: word, rest: [...argv.slice(0, at), ...argv.slice(at + 1)] }
    }
    if (optionOf(word, shared)?.[1].type === "string") at++
  }
  return { name: undefined, rest: argv }
}

/** Every option of a command; its own take precedence over shared ones. */
export function allOptions(command: CommandDefinition): OptionSpecs {
  return { ...(command.hasSources ? sourceOptions : {}), ...commonOptions, ...command.options }
}
