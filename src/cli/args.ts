import { parseArgs } from "node:util"
import { addToList } from "../internal/lists.ts"
import { nearest } from "../internal/suggest.ts"
import { UsageError, type CommandArgs, type OptionSpecs } from "./model.ts"

/** Parses the arguments after a command's name. Throws a `UsageError` with a suggestion. */
export function readArgs(argv: readonly string[], options: OptionSpecs): CommandArgs {
  const parsable = Object.entries(options).map(
    ([name, { type, short }]) =>
      [name, { type, multiple: true, ...(short !== undefined && { short }) }] as const,
  )
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(parsable),
    allowPositionals: true,
    // Mistakes are reported in our own words, below.
    strict: false,
    tokens: true,
  })
  const positionals: string[] = []
  const values = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value)
    if (token.kind !== "option") continue
    addToList(values, token.name, valueOf(token, options))
  }
  const text = (name: string): string | undefined => values.get(name)?.at(-1)
  return {
    positionals,
    text,
    texts: (name) => values.get(name) ?? [],
    flag: (name) => values.has(name),
    count(name) {
      const digits = text(name)
      if (digits === undefined) return undefined
      if (/^\d{1,15}$/.test(digits)) return Number(digits)
      throw new UsageError(`Option "--${name}" takes a whole number from 0 up; got "${digits}".`)
    },
  }
}

/** The option that a word such as `--config` or `-c` names. */
export function optionOf(
  word: string | undefined,
  options: OptionSpecs,
): [string, OptionSpecs[string]] | undefined {
  return Object.entries(options).find(
    ([name, { short }]) => word === `--${name}` || (short !== undefined && word === `-${short}`),
  )
}

function valueOf(
  token: {
    name: string
    rawName: string
    value?: string | undefined
    inlineValue?: boolean | undefined
  },
  options: OptionSpecs,
): string {
  const { name, rawName, value, inlineValue } = token
  const spec = Object.hasOwn(options, name) ? options[name] : undefined
  if (spec === undefined) throw unknownOption(rawName, options)
  if (spec.type === "boolean") {
    if (value === undefined) return ""
    throw new UsageError(`Option "${rawName}" takes no value; got "${value}".`)
  }
  const example = `${rawName} <${spec.value ?? "value"}>`
  if (value === undefined) {
    throw new UsageError(`Option "${rawName}" needs a value: ${example}`)
  }
  // In `--config --json` a value is missing; `-` alone is standard input.
  if (inlineValue !== true && value.length > 1 && value.startsWith("-")) {
    throw new UsageError(
      `Option "${rawName}" needs a value: ${example}. One that begins with a dash goes after "=": --${name}=-…`,
    )
  }
  return value
}

function unknownOption(rawName: string, options: OptionSpecs): UsageError {
  const meant = rawName.startsWith("--")
    ? nearest(rawName.slice(2), Object.keys(options))
    : undefined
  const hint =
    meant === undefined
      ? ` An argument that begins with a dash goes after "--".`
      : ` Did you mean "--${meant}"?`
  return new UsageError(`There is no option "${rawName}".${hint}`)
}
