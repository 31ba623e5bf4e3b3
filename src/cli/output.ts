import type { CommandIO, TextSink } from "./model.ts"
import { charWidth, widthOf } from "./width.ts"
import { wrap, wrapFor } from "./wrap.ts"
import { trimEnd } from "../internal/trim-end.ts"
import { showHiddenText } from "../mcp/hidden-text.ts"

export { styled } from "./style.ts"
export type { Style } from "./style.ts"

/** A result, and a line feed, on standard output. */
export function print({ stdout }: CommandIO, text: string): void {
  stdout.write(`${text}\n`)
}

/** One JSON value on standard output: over several lines for a person, on one for a program. */
export function printJson({ stdout }: CommandIO, value: unknown): void {
  stdout.write(`${jsonText(value, stdout.isTTY === true ? 2 : undefined)}\n`)
}

/** JSON in which a terminal finds nothing to obey, and a reader nothing that is not seen. */
export function jsonText(value: unknown, indent?: number): string {
  return showHiddenText(JSON.stringify(value, undefined, indent) ?? "null", escaped)
}

/** A remark on standard error; nothing under `--quiet`. */
export function note(io: CommandIO, text: string): void {
  if (io.quiet !== true) printError(io, text)
}

/** What went wrong, on standard error; also under `--quiet`. */
export function printError({ stderr }: CommandIO, text: string): void {
  stderr.write(`${wrapFor(stderr, text)}\n`)
}

/** Text for people on standard output, broken between words where that is a terminal. */
export function printText({ stdout }: CommandIO, text: string): void {
  stdout.write(`${wrapFor(stdout, text)}\n`)
}

/**
 * A text from elsewhere for a terminal: control characters, those that turn the direction of a line around, and those
 * that are not seen are shown, not obeyed.
 *
 * A description with an escape sequence could otherwise repaint what a person reads.
 */
export function escapeForTerminal(text: string): string {
  return showHiddenText(text.replaceAll("\r\n", "\n").replaceAll("\r", escaped), escaped)
}

/** The same on one line, and no longer than there is room. */
export function oneLine(text: string, width: number = Number.POSITIVE_INFINITY): string {
  return cut(escapeForTerminal(text.trim().replaceAll(/\s+/g, " ")), width)
}

type Rows = readonly (readonly string[])[]

/** Fits the last cell of a row behind the columns before it. */
type Fit = (cell: string, used: number) => string

/**
 * Rows as aligned columns.
 *
 * With a width, the last column is cut to it. Cells may be coloured: what is not seen has no width.
 */
export function table(rows: Rows, width?: number): string {
  return aligned(rows, (cell, used) => (width === undefined ? cell : cut(cell, width - used)))
}

/** The same for a sink, with all of the last column: on a terminal over as many lines as it takes. */
export function textTable(rows: Rows, { isTTY, columns }: TextSink): string {
  const width = isTTY === true ? columns : undefined
  if (width === undefined) return table(rows)
  return aligned(rows, (cell, used) => {
    const room = width - used
    if (widthOf(cell) <= room) return cell
    // Below the other columns, where there is no room beside them.
    const indent = room < MIN_COLUMN ? 6 : used
    const lines = wrap(cell, width - indent).replaceAll("\n", `\n${" ".repeat(indent)}`)
    return room < MIN_COLUMN ? `\n${" ".repeat(indent)}${lines}` : lines
  })
}

function aligned(rows: Rows, fit: Fit): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, widthOf(cell))
    }
  }
  return rows.map((row) => line(row, widths, fit)).join("\n")
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

// A column of a few characters says less than a line that wraps.
const MIN_COLUMN = 20

function cut(text: string, room: number): string {
  const most = Math.max(room, MIN_COLUMN)
  // A coloured cell is given as it is: a cut could lose the end of its colour.
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

/** As JSON writes it, in two halves where one does not suffice. */
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
