import type { CommandIO, TextSink } from "./model.ts"
import { charWidth, widthOf } from "./wrap.ts"
import { wrap, wrapFor } from "./wrap.ts"
import { redact } from "../internal/redact.ts"
import { trimEnd } from "../internal/trim-end.ts"
import { showHiddenText } from "../mcp/hidden-text.ts"

/** Prints a result and a line feed to standard output. */
export function print({ stdout }: CommandIO, text: string): void {
  stdout.write(`${text}\n`)
}

/** Prints one JSON value to standard output: over several lines on a terminal, otherwise on one. */
export function printJson({ stdout }: CommandIO, value: unknown): void {
  stdout.write(`${jsonText(value, stdout.isTTY === true ? 2 : undefined)}\n`)
}

/** JSON with control characters and invisible characters escaped. */
export function jsonText(value: unknown, indent?: number): string {
  return showHiddenText(JSON.stringify(value, undefined, indent) ?? "null", escaped)
}

/** Prints a note to standard error; nothing under `--quiet`. */
export function note(io: CommandIO, text: string): void {
  if (io.quiet !== true) printError(io, text)
}

/** Prints an error to standard error, also under `--quiet`. */
export function printError({ stderr }: CommandIO, text: string): void {
  stderr.write(`${wrapFor(stderr, text)}\n`)
}

/** Prints text to standard output, wrapped between words on a terminal. */
export function printText({ stdout }: CommandIO, text: string): void {
  stdout.write(`${wrapFor(stdout, text)}\n`)
}

/**
 * Escapes untrusted text for a terminal: control characters, characters that change the direction of a line, and
 * invisible ones.
 *
 * Otherwise a description with an escape sequence could repaint the screen.
 */
export function escapeForTerminal(text: string): string {
  return showHiddenText(text.replaceAll("\r\n", "\n").replaceAll("\r", escaped), escaped)
}

/** `1 operation`, `2 operations`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`
}

/** Escapes a text for a terminal, on one line, cut to a width. */
export function oneLine(text: string, width: number = Number.POSITIVE_INFINITY): string {
  return cut(escapeForTerminal(text.trim().replaceAll(/\s+/g, " ")), width)
}

type Rows = readonly (readonly string[])[]

/** Fits the last cell of a row after the other columns. */
type Fit = (cell: string, used: number) => string

/**
 * Aligns rows in columns.
 *
 * With a width, the last column is cut to it. The first cell of a row without room has a line of its own; where that are
 * many rows, all of them. Cells may be coloured: escape sequences have no width.
 */
export function table(rows: Rows, width?: number): string {
  if (width === undefined) return aligned(rows, (cell) => cell)
  const room = width - MIN_COLUMN
  const others = usedBy(rows.map(([, ...rest]) => ["", ...rest]))
  const narrow = rows.filter(([first = ""]) => widthOf(first) + others <= room)
  const used = usedBy(narrow)
  const areMost = narrow.length >= 0.75 * rows.length
  const aside = new Set(areMost ? narrow : [])
  const widths = widthsOf(narrow)
  return rows
    .map((row) =>
      aside.has(row) ? line(row, widths, (cell) => cut(cell, width - used)) : below(row, width),
    )
    .join("\n")
}

/** Columns before the last one. */
function usedBy(rows: Rows): number {
  return widthsOf(rows.map((row) => row.slice(0, -1))).reduce((sum, one) => sum + one + 2, 0)
}

function below([first = "", ...rest]: readonly string[], width: number): string {
  const before = ["", ...rest.slice(0, -1), ""].join("  ")
  return trimLines(`${first}\n${before}${cut(rest.at(-1) ?? "", width - widthOf(before))}`)
}

/** Aligns rows for a sink and keeps the whole last column, which is wrapped on a terminal. */
export function textTable(rows: Rows, { isTTY, columns }: TextSink): string {
  const width = isTTY === true ? columns : undefined
  if (width === undefined) return table(rows)
  return aligned(rows, (cell, used) => {
    const room = width - used
    if (widthOf(cell) <= room) return cell
    // Below the other columns, if there is no room next to them.
    const indent = room < MIN_COLUMN ? 6 : used
    const lines = wrap(cell, width - indent).replaceAll("\n", `\n${" ".repeat(indent)}`)
    return room < MIN_COLUMN ? `\n${" ".repeat(indent)}${lines}` : lines
  })
}

function aligned(rows: Rows, fit: Fit): string {
  const widths = widthsOf(rows)
  return rows.map((row) => line(row, widths, fit)).join("\n")
}

function widthsOf(rows: Rows): readonly number[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, widthOf(cell))
    }
  }
  return widths
}

function line(row: readonly string[], widths: readonly number[], fit: Fit): string {
  let text = ""
  let used = 0
  for (const [at, cell] of row.entries()) {
    if (at === row.length - 1) return trimLines(text + fit(cell, used))
    const room = (widths[at] ?? 0) + 2
    text += cell + " ".repeat(room - widthOf(cell))
    used += room
  }
  return text
}

// Minimum width of a column; narrower ones are hard to read.
const MIN_COLUMN = 20

function cut(text: string, room: number): string {
  const most = Math.max(room, MIN_COLUMN)
  // A coloured cell is not cut, which could lose the end of its colour.
  if (widthOf(text) <= most || text.includes("\u001B")) return text
  let taken = ""
  let width = 1
  for (const char of text) {
    width += charWidth(char)
    if (width > most) break
    taken += char
  }
  return `${taken.trimEnd()}…`
}

/** Escapes a character as in JSON, with two escapes for a surrogate pair. */
function escaped(char: string): string {
  return Array.from({ length: char.length }, (_, at) =>
    char.charCodeAt(at).toString(16).padStart(4, "0"),
  )
    .map((code) => `\\u${code}`)
    .join("")
}

function trimLines(text: string): string {
  return text
    .split("\n")
    .map((one) => trimEnd(one, " \t"))
    .join("\n")
}

/** Fields with their values on one line, secrets masked. */
export function fieldsText(fields: object, separator: string): string {
  return Object.entries(redact(fields) as object)
    .map(([name, value]) => `${name}${separator}${JSON.stringify(value)}`)
    .join(", ")
}

/** Text styles; without a terminal they leave the text unchanged. */
export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly cyan: (text: string) => string
}

/** The styles of a sink (default: standard output): coloured on a terminal without `NO_COLOR`. */
export function styled({ env, stdout }: CommandIO, sink: TextSink = stdout): Style {
  return hasColour(sink, env) ? COLOURED : PLAIN
}

function hasColour(sink: TextSink, env: CommandIO["env"]): boolean {
  return sink.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb"
}

const same = (text: string): string => text
const PLAIN: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same }

const COLOURED: Style = {
  bold: between(1, 22),
  dim: between(2, 22),
  red: between(31, 39),
  green: between(32, 39),
  yellow: between(33, 39),
  cyan: between(36, 39),
}

function between(on: number, off: number): (text: string) => string {
  return (text) => (text === "" ? "" : `\u001B[${on}m${text}\u001B[${off}m`)
}
