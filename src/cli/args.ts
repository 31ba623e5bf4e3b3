import { parseArgs } from "node:util"
import { nearest } from "../internal/suggest.ts"
import { UsageError } from "./model.ts"
import type { CommandArgs, OptionSpec, OptionSpecs } from "./model.ts"

/** Parses the arguments after a command's name. Throws a `UsageError` with a suggestion. */
export function readArgs(argv: readonly string[], options: OptionSpecs): CommandArgs {
  const { tokens } = parseArgs({
    args: [...argv],
    options: parsable(options),
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
    const value = valueOf(token, options)
    const earlier = values.get(token.name)
    if (earlier === undefined) values.set(token.name, [value])
    else earlier.push(value)
  }
  return new ReadArgs(positionals, values)
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function valueOf({ name, rawName, value, inlineValue }: OptionToken, options: OptionSpecs): string {
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

type Parsable = Record<
  string,
  { readonly type: "string" | "boolean"; short?: string; multiple: boolean }
>

function parsable(options: OptionSpecs): Parsable {
  return Object.fromEntries(
    Object.entries(options).map(([name, { type, short }]: [string, OptionSpec]) => [
      name,
      { type, multiple: true, ...(short !== undefined && { short }) },
    ]),
  )
}

class ReadArgs implements CommandArgs {
  readonly positionals: readonly string[]
  readonly #values: ReadonlyMap<string, readonly string[]>

  constructor(positionals: readonly string[], values: ReadonlyMap<string, readonly string[]>) {
    this.positionals = positionals
    this.#values = values
  }

  text(name: string): string | undefined {
    return this.#values.get(name)?.at(-1)
  }

  texts(name: string): readonly string[] {
    return this.#values.get(name) ?? []
  }

  flag(name: string): boolean {
    return this.#values.has(name)
  }

  count(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    if (/^\d{1,15}$/.test(text)) return Number(text)
    throw new UsageError(`Option "--${name}" takes a whole number from 0 up; got "${text}".`)
  }
}
