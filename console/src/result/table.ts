import { isRecord } from "../../../src/internal/guards.ts"
import { printJson } from "../ui/json-text.ts"

/** A list of objects as rows and columns. */
export interface TableModel {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
  /** The property that contains the list. */
  readonly of: string | undefined
  /** Columns that are left out. */
  readonly moreColumns: number
}

const MAX_COLUMNS = 40
/** Number of rows that are searched for columns. */
const SAMPLE = 500

/** The table of a value: of a list of objects, or of an object whose only such list is one property. */
export function tableOf(value: unknown): TableModel | undefined {
  if (isTable(value)) return modelOf(value, undefined)
  if (!isRecord(value)) return undefined
  const lists = Object.entries(value).filter((entry): entry is [string, readonly object[]] =>
    isTable(entry[1]),
  )
  const [only, ...more] = lists
  return only === undefined || more.length > 0 ? undefined : modelOf(only[1], only[0])
}

function isTable(value: unknown): value is readonly object[] {
  return Array.isArray(value) && value.length > 0 && value.every((row) => isRecord(row))
}

function modelOf(list: readonly object[], of: string | undefined): TableModel {
  const keys = new Set<string>()
  for (const row of list.slice(0, SAMPLE)) for (const key of Object.keys(row)) keys.add(key)
  const columns = [...keys].slice(0, MAX_COLUMNS)
  const rows = list.map((row) =>
    columns.map((key) =>
      Object.hasOwn(row, key) ? (row as Record<string, unknown>)[key] : undefined,
    ),
  )
  return { columns, rows, of, moreColumns: keys.size - columns.length }
}

/** A cell in a few words. */
export function cellText(value: unknown): string {
  if (value === undefined) return ""
  const text = typeof value === "string" ? value : (printJson(value) ?? "")
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}

/** Rows sorted by a column: numbers by size, the rest by text; missing values come last. */
export function sortRows(
  rows: readonly (readonly unknown[])[],
  column: number,
  isDescending: boolean,
): readonly (readonly unknown[])[] {
  const sign = isDescending ? -1 : 1
  return rows.toSorted((a, b) => {
    const [left, right] = [a[column], b[column]]
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
