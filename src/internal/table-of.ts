import { isRecord } from "./guards.ts"
import { namesOf } from "./per-object.ts"
import { printShort } from "./print-short.ts"

/** A list of objects as rows and columns. */
export interface TableModel {
  readonly columns: readonly string[]
  readonly rows: readonly object[]
  /** The property that contains the list. */
  readonly of: string | undefined
  /** Columns that are left out. */
  readonly moreColumns: number
}

const MAX_COLUMNS = 40
/** Number of rows that are searched for columns. */
const SAMPLE = 500
const MAX_TEXT = 121

/** The table of a value: of a list of objects, or of an object whose only such list is one property. */
export function tableOf(value: unknown): TableModel | undefined {
  if (isTable(value)) return modelOf(value, undefined)
  if (!isRecord(value)) return undefined
  let table: TableModel | undefined
  for (const name of namesOf(value)) {
    const list = value[name]
    if (!isTable(list)) continue
    if (table !== undefined) return undefined
    table = modelOf(list, name)
  }
  return table
}

function isTable(value: unknown): value is readonly object[] {
  return Array.isArray(value) && value.length > 0 && value.every((row) => isRecord(row))
}

/** A table of objects; `of` is the name of the list. */
export function modelOf(list: readonly object[], of: string | undefined): TableModel {
  const keys = new Set<string>()
  for (const row of list.slice(0, SAMPLE)) for (const key of Object.keys(row)) keys.add(key)
  const columns = [...keys].slice(0, MAX_COLUMNS)
  return { columns, rows: list, of, moreColumns: keys.size - columns.length }
}

/** A cell in a few words. */
export function cellText(value: unknown): string {
  if (value === undefined) return ""
  if (typeof value !== "string") return printShort(value, MAX_TEXT)
  return value.length < MAX_TEXT ? value : `${value.slice(0, MAX_TEXT - 1)}…`
}
