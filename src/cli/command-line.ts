import type { CommandDefinition, OptionSpecs } from "./model.ts"
import { commonOptions, sourceOptions } from "./shared-options.ts"

/** A command line, split into the command and its arguments. */
export interface SplitLine {
  readonly name: string | undefined
  /** All other words, in order. */
  readonly rest: readonly string[]
}

/** Finds the command; shared options may precede it. */
export function splitCommand(argv: readonly string[]): SplitLine {
  const shared: OptionSpecs = { ...sourceOptions, ...commonOptions }
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] as string
    if (word === "--") break
    if (!word.startsWith("-")) {
      return { name: word, rest: [...argv.slice(0, at), ...argv.slice(at + 1)] }
    }
    if (takesNext(word, shared)) at++
  }
  return { name: undefined, rest: argv }
}

/** Every option of a command; its own take precedence over shared ones. */
export function allOptions(command: CommandDefinition): OptionSpecs {
  return { ...(command.hasSources ? sourceOptions : {}), ...commonOptions, ...command.options }
}

function takesNext(word: string, options: OptionSpecs): boolean {
  if (word.includes("=")) return false
  const spec = Object.entries(options).find(
    ([name, { short }]) => word === `--${name}` || (short !== undefined && word === `-${short}`),
  )?.[1]
  return spec?.type === "string"
}
