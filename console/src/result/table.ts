import { cellText, modelOf } from "../../../src/internal/table-of.ts"
import type { TableModel } from "../../../src/internal/table-of.ts"
import { getOwn, setOwn } from "../../../src/schema/json.ts"
import { safeHref } from "./blocks.ts"

/** The table of comma-separated values, whose first line has the names of the columns. */
export function csvTable(text: string): TableModel | undefined {
  const [names = [], ...lines] = csvLines(text)
  const rows = lines.map((line) => {
    const row = {}
    for (const [at, cell] of line.entries()) setOwn(row, names[at] || `Column ${at + 1}`, cell)
    return row
  })
  return rows.length === 0 ? undefined : modelOf(rows, undefined)
}

/** The cells of each line that is not empty; those in quotes may contain commas, quotes and line ends. */
function csvLines(text: string): readonly (readonly string[])[] {
  const lines: string[][] = []
  let [line, cell, isQuoted, isClosed]: [string[], string, boolean, boolean] = [
    [],
    "",
    false,
    false,
  ]
  for (const part of `${text}\n`.split(/("|,|\r?\n)/)) {
    if (part === "") continue
    if (part === '"' && (isQuoted || isClosed || cell === "")) {
      // Two in a row stand for one: they end the quotes, and begin them again.
      if (isClosed) cell += part
      isClosed = isQuoted
      isQuoted = !isQuoted
    } else if (isQuoted || !/^(?:,|\r?\n)$/.test(part)) {
      cell += part
      isClosed = false
    } else {
      line.push(cell)
      cell = ""
      isClosed = false
      if (part === ",") continue
      if (line.join("") !== "") lines.push(line)
      line = []
    }
  }
  return lines
}

/** How a cell is displayed. */
export interface Cell {
  readonly text: string
  /** The address of a web page. */
  readonly href?: string | undefined
  /** The value in full, where the text is shorter. */
  readonly title?: string | undefined
  readonly isNumber?: boolean | undefined
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/

/** A cell by the type of its value: numbers without noise, moments in the reader's time, addresses as links. */
export function cellOf(value: unknown): Cell {
  const title = cellText(value)
  if (typeof value === "bigint") return { text: title, isNumber: true }
  if (typeof value === "number") {
    const text = Number.isInteger(value) ? title : String(Number(value.toPrecision(6)))
    return { text, isNumber: true, title }
  }
  if (typeof value !== "string") return { text: title }
  // JavaScript reads 30 February as 1 March.
  const isDay = (): boolean =>
    new Date(value.slice(0, 10)).getUTCDate() === Number(value.slice(8, 10))
  if (MOMENT.test(value) && isDay() && !Number.isNaN(Date.parse(value))) {
    return { text: new Date(value).toLocaleString(), title }
  }
  return { text: title, title: value.slice(0, 1000), href: safeHref(value) }
}

/** Number of rows that decide how a column is aligned. */
const SAMPLE = 500

/** Whether a column has numbers only. */
export function isNumeric({ rows }: TableModel, column: string): boolean {
  const values = rows.slice(0, SAMPLE).map((row) => getOwn(row, column) ?? undefined)
  return values.some(isNumber) && values.every((one) => one === undefined || isNumber(one))
}

/** The rows that contain a text. */
export function filterRows({ rows, columns }: TableModel, text: string): readonly object[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === "") return rows
  return rows.filter((row) =>
    columns.some((column) => cellText(getOwn(row, column)).toLowerCase().includes(wanted)),
  )
}

/** Rows sorted by a column: numbers by size, the rest by text; missing values come last. */
export function sortRows(
  rows: readonly object[],
  column: string,
  isDescending: boolean,
): readonly object[] {
  const sign = isDescending ? -1 : 1
  return rows.toSorted((a, b) => {
    const [left, right] = [getOwn(a, column), getOwn(b, column)]
    const isMissing = Number(left === undefined || left === null)
    const missing = isMissing - Number(right === undefined || right === null)
    if (missing !== 0 || isMissing === 1) return missing
    if (isNumber(left) && isNumber(right)) return left === right ? 0 : left < right ? -sign : sign
    return sign * cellText(left).localeCompare(cellText(right), "en", { numeric: true })
  })
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint"
}
