// An operation's input from a command line: `--input`, then `key=value`, converted by the schema.

import { didYouMean } from "../../internal/suggest.ts"
import { parseExact } from "../../http-client/exact-json.ts"
import { parseJson } from "../../http-client/json.ts"
import { isRecord } from "../../internal/guards.ts"
import { UsageError, type CommandIO } from "../model.ts"
import { parseArgument, type InputArgument } from "./argument.ts"
import { assign, mergeInputs, placeOf, type Place } from "./assign.ts"
import { InputReader, textOf } from "./read.ts"
import { toBase64 } from "../../internal/base64.ts"
import { decodeFiles } from "../../core/decode-files.ts"
import { fileKindOf } from "../../schema/file-fields.ts"
import { viewOf, type SchemaView } from "../../schema/read/view.ts"
import { readText } from "./text.ts"

/** Input arguments and options of a command line. */
export interface InputSources {
  /** Arguments such as `key=value`. */
  readonly arguments: readonly string[]
  /** Values of `--input`: a file, `-` for stdin, or JSON. Later ones override earlier ones. */
  readonly inputs: readonly string[]
  readonly schema: unknown
}

/** An input, and notes about it. */
export interface ReadInput {
  /** `undefined` when there is no input and the operation does not take an object. */
  readonly value: unknown
  readonly notes: readonly string[]
  /** Stdin was read, so prompts are not possible. */
  readonly usedStdin: boolean
}

/** Builds the input from the command line. Throws a `UsageError` that names the wrong argument. */
export async function readInput(
  { arguments: texts, inputs, schema }: InputSources,
  io: Pick<CommandIO, "stdin" | "cwd" | "signal">,
): Promise<ReadInput> {
  const parsed = texts.map(parseArgument)
  const reader = new InputReader(io)
  let value: unknown
  for (const input of inputs) {
    const next = await wholeInput(input, reader)
    value = value === undefined ? next : mergeInputs(value, next)
  }
  const view = viewOf(schema)
  if (parsed.length === 0) {
    if (inputs.length === 0 && takesObject(view)) value = {}
  } else if (value !== undefined && !isRecord(value)) {
    throw new UsageError(
      `"${parsed[0]?.key}" cannot be added to the value of --input, which is not an object.`,
    )
  } else value = mergeInputs({}, structuredClone(value ?? {}))
  const notes: string[] = []
  const taken = new Set<string>()
  for (const argument of parsed) {
    const place = placeOf(argument.key, argument.steps, view)
    if (place.unknown !== undefined) notes.push(unknownNote(argument.key, place.unknown))
    const argumentValue = await valueOf(argument, place, reader)
    put(value as object, argument, place, argumentValue, taken)
  }
  const usedStdin = inputs.includes("-") || reader.usedStdin
  return { value: decodeFiles(schema, value), notes, usedStdin }
}

function put(
  target: object,
  argument: InputArgument,
  { steps, view }: Place,
  value: unknown,
  taken: Set<string>,
): void {
  const name = steps.map(String).join("\0")
  // A repeated name adds to a list; a list of `--input` is replaced.
  const isMore = taken.has(name) && view.types.has("array") && !view.types.has("string")
  taken.add(name)
  assign(target, argument.key, steps, value, (before) =>
    isMore && Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value,
  )
}

async function valueOf(
  argument: InputArgument,
  { view }: Place,
  reader: InputReader,
): Promise<unknown> {
  const { key, from, as } = argument
  const operator = as === "json" ? ":=" : "="
  const what = from === "stdin" ? `${key}${operator}@-` : `${key}${operator}@${argument.value}`
  const kind = as === "json" ? undefined : fileKindOf(view)
  const isFile = kind === "bytes" || kind === "stream"
  if (from === "argument" && kind === "raw") return new TextEncoder().encode(argument.value)
  if (from === "argument" && !isFile) {
    return as === "json" ? json(argument.value, `${key}:=`) : readText(argument.value, view)
  }
  // For a file, the text of an argument is its name.
  const isStdin = from === "stdin" || (isFile && argument.value === "-")
  if (kind === "stream" && !isStdin) return await reader.blob(argument.value, what)
  const bytes = isStdin ? await reader.stdin(what) : await reader.file(argument.value, what)
  if (as === "json") return json(textOf(bytes, what), what)
  if (kind === "text") return toBase64(bytes)
  if (view.isBinary) return bytes
  const text = textOf(bytes, what)
  // A file may end with a line break, which numbers and lists do not need.
  const value = readText(text.trim(), view)
  return typeof value === "string" ? text : value
}

async function wholeInput(input: string, reader: InputReader): Promise<unknown> {
  if (input === "-") return json(textOf(await reader.stdin("--input -"), "--input -"), "--input -")
  if (/^\s*[{["]|^(?:null|true|false|-?\d+(?:\.\d+)?)$/.test(input)) return json(input, "--input")
  const what = `--input ${input}`
  return json(textOf(await reader.file(input, what), what), what)
}

function json(text: string, what: string): unknown {
  if (text.trim() === "") throw new UsageError(`${what}: there is nothing, and JSON is expected.`)
  const plain = text.replace(/^\uFEFF/, "")
  const parsed = parseJson(plain)
  switch (parsed.is) {
    case "value":
      return parsed.bigIntegers === undefined ? parsed.value : parseExact(plain)
    case "broken":
      throw new UsageError(`${what}: that is ${parsed.reason}.${cureFor(text)}`)
    case "too-deep":
      throw new UsageError(`${what}: that JSON is nested deeper than ${parsed.limit} levels.`)
  }
}

function cureFor(text: string): string {
  return /^\s*\{\s*'/.test(text) || /^\s*\{\s*\w/.test(text)
    ? ` Names and texts have double quotes in JSON; quote it for the shell: '{"name":"value"}'`
    : ""
}

function takesObject(view: SchemaView): boolean {
  return view.types.size === 0 || view.types.has("object")
}

function unknownNote(key: string, { name, declared }: NonNullable<Place["unknown"]>): string {
  const hint = didYouMean(name, declared) || ` It takes ${listNames(declared)}.`
  return `"${key}" is not an input that the operation declares.${hint}`
}

function listNames(names: readonly string[]): string {
  const some = names.slice(0, 12).join(", ")
  return names.length > 12 ? `${some}, … (${names.length} in all)` : some
}
