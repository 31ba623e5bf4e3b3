import type { ResponseEnvelope } from "../../core/envelope.ts"
import { encodeEnvelope } from "../../core/envelope-codec.ts"
import type { CommandArgs, CommandIO, OptionSpecs } from "../model.ts"
import { isPlainJson } from "../../core/plain-json.ts"
import { cellText, tableOf } from "../../internal/table-of.ts"
import { getOwn } from "../../schema/json.ts"
import { jsonText, note, oneLine, printJson, escapeForTerminal, styled, table } from "../output.ts"
import type { Style } from "../output.ts"
import { widthOf } from "../wrap.ts"
import { asBytes, blocksOf, blockText, bytesIn, sizeText } from "./blocks.ts"

/** Options for printing results. */
export const resultOptions: OptionSpecs = {
  data: { type: "boolean", description: "Print the data as JSON, without its envelope" },
  envelope: { type: "boolean", description: "Print the envelope: the data and where it is from" },
}

/** How results are printed: for people, as JSON of the data, or as JSON of the whole envelope. */
export type ResultForm = "people" | "data" | "envelope"

/** The requested form; `--json` is the envelope unless `--data` is set. */
export function formOf(args: CommandArgs): ResultForm {
  if (args.flag("data")) return "data"
  return args.flag("envelope") || args.flag("json") ? "envelope" : "people"
}

/** Prints a result. */
export function showResult(envelope: ResponseEnvelope, form: ResultForm, io: CommandIO): void {
  if (form !== "people") printJson(io, jsonOf(envelope, form))
  else showData(envelope, io)
}

/** A result as JSON data; bytes become base64. */
export function jsonOf(envelope: ResponseEnvelope, form: "data" | "envelope"): unknown {
  const wire = encodeEnvelope(envelope)
  return form === "data" ? (wire.data ?? null) : wire
}

/** The text of a result for people. */
export function dataText(envelope: ResponseEnvelope, style: Style, indent?: number): string {
  const { data } = envelope
  const blocks = blocksOf(envelope)
  if (blocks !== undefined) return blocks.map(blockText).join("\n")
  if (typeof data === "string") return data
  return coloured(jsonText(encodeEnvelope(envelope).data, indent), style)
}

function showData(envelope: ResponseEnvelope, io: CommandIO): void {
  const { data } = envelope
  const isTerminal = io.stdout.isTTY === true
  const bytes = asBytes(data)
  if (bytes !== undefined) {
    // A terminal could interpret the bytes.
    if (isTerminal) noteBytes(envelope, io)
    else io.stdout.write(bytes)
    return
  }
  if (data === undefined) {
    note(io, "Done; there is no data.")
    return
  }
  const isText = typeof data === "string" || blocksOf(envelope) !== undefined
  const rows = isTerminal && !isText ? rowsOf(data, io) : undefined
  const text = rows ?? dataText(envelope, styled(io), 2)
  const safe = isText && isTerminal ? escapeForTerminal(text) : text
  io.stdout.write(safe.endsWith("\n") ? safe : `${safe}\n`)
  noteBytes(envelope, io)
}

const MAX_CELL = 40

/** A list of objects as a table, where the terminal is wide enough for it. */
function rowsOf(data: unknown, io: CommandIO): string | undefined {
  const model = Array.isArray(data) && isPlainJson(data) ? tableOf(data) : undefined
  if (model === undefined || model.moreColumns > 0) return undefined
  const { bold } = styled(io)
  const cells = model.rows.map((row) =>
    model.columns.map((name) => oneLine(cellText(getOwn(row, name)), MAX_CELL)),
  )
  const text = table([model.columns.map((name) => bold(oneLine(name, MAX_CELL))), ...cells])
  const { columns = 80 } = io.stdout
  return text.split("\n").every((line) => widthOf(line) <= columns) ? text : undefined
}

function noteBytes(envelope: ResponseEnvelope, io: CommandIO): void {
  const binaries = bytesIn(envelope)
  if (binaries.length === 0) return
  const what = binaries.map(({ bytes, type }) => `${sizeText(bytes.length)} of ${type}`).join(", ")
  note(io, escapeForTerminal(`The result has ${what}. Write it to a file: --output <file>`))
}

/** JSON with coloured names, strings and numbers. */
function coloured(text: string, { cyan, green, yellow, dim }: Style): string {
  if (cyan("x") === "x") return text
  return text.replace(
    /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g,
    (token: string, quoted: string | undefined, colon: string | undefined) => {
      if (quoted !== undefined) return colon ? `${cyan(quoted)}${colon}` : green(quoted)
      return token === "null" ? dim(token) : yellow(token)
    },
  )
}
