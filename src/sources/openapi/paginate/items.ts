import { parsePointer, valueAt } from "../../../internal/pointer.ts"
import { isRecord } from "../../../internal/guards.ts"
import { getOwn } from "../../../schema/json.ts"

const LISTS = ["data", "items", "results", "value", "values", "records", "entries", "list", "hits"]
const TOTALS = [
  "/total",
  "/total_count",
  "/totalCount",
  "/totalResults",
  "/total_results",
  "/meta/total",
  "/pagination/total",
  "/@odata.count",
]
const PAGE_COUNTS = [
  "/total_pages",
  "/totalPages",
  "/page_count",
  "/pageCount",
  "/meta/total_pages",
  "/meta/last_page",
  "/pagination/total_pages",
  "/last_page",
]

/** Finds the list in a page: at a pointer, the page itself, or its only list. */
export function itemsOf(
  data: unknown,
  pointer: string | undefined,
): readonly unknown[] | undefined {
  if (pointer !== undefined) return asList(at(data, pointer))
  if (Array.isArray(data)) return data
  if (!isRecord(data)) return undefined
  for (const name of LISTS) {
    const value = getOwn(data, name)
    if (Array.isArray(value)) return value
    if (!isRecord(value)) continue
    for (const inner of LISTS) {
      const list = asList(getOwn(value, inner))
      if (list !== undefined) return list
    }
  }
  const lists = Object.values(data).filter((value) => Array.isArray(value))
  return lists.length === 1 ? asList(lists[0]) : undefined
}

/** The total number of items, if the page contains it. */
export function totalOf(data: unknown): number | undefined {
  return firstNumber(data, TOTALS)
}

/** The total number of pages, if the page contains it. */
export function pageCountOf(data: unknown): number | undefined {
  return firstNumber(data, PAGE_COUNTS)
}

/** The value at a JSON pointer, or under a plain key. */
export function at(data: unknown, pointer: string): unknown {
  return valueAt(data, pointer.startsWith("/") ? (parsePointer(pointer) ?? [pointer]) : [pointer])
}

function firstNumber(data: unknown, pointers: readonly string[]): number | undefined {
  for (const pointer of pointers) {
    const value = at(data, pointer)
    if (typeof value === "number") return value
  }
  return undefined
}

function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? (value as readonly unknown[]) : undefined
}
