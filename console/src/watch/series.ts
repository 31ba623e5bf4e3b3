import { isRecord } from "../../../src/internal/guards.ts"
import { pointerSegment, valueAt } from "../../../src/internal/pointer.ts"

/** A numeric part of the items. */
export interface NumericField {
  /** Its JSON pointer, which is unique among the fields; empty for the item itself. */
  readonly pointer: string
  readonly path: readonly string[]
  readonly label: string
}

/** Number of recent items that are searched for numbers. */
const SEARCHED_ITEMS = 50
const MAX_DEPTH = 4
const MAX_FIELDS = 40

/** Names of ids, times and versions: they can be drawn, but are rarely what the reader wants. */
const DULL = /^(?:.*id|.*at|time|timestamp|ts|date|year|tick|seq|sequence|index|version)$/i

/** The numeric parts of the items; those in most items come first. */
export function numericFields(values: readonly unknown[]): readonly NumericField[] {
  const fields = new Map<string, { field: NumericField; count: number }>()
  for (const value of values.slice(-SEARCHED_ITEMS)) collect(value, [], fields)
  return [...fields.values()].toSorted((a, b) => b.count - a.count).map(({ field }) => field)
}

/** The field that is drawn until one is chosen. */
export function preferredField(fields: readonly NumericField[]): NumericField | undefined {
  return fields.find(({ path }) => !DULL.test(path.at(-1) ?? "")) ?? fields[0]
}

/** The number at a path; `undefined` if there is none. */
export function readNumber(value: unknown, path: readonly string[]): number | undefined {
  const at = valueAt(value, path)
  if (typeof at === "bigint") return Number(at)
  return isNumber(at) ? at : undefined
}

function collect(
  value: unknown,
  path: readonly string[],
  fields: Map<string, { field: NumericField; count: number }>,
): void {
  if (isNumber(value) || typeof value === "bigint") {
    count(path, fields)
    return
  }
  if (!isRecord(value) || path.length >= MAX_DEPTH) return
  for (const [key, part] of Object.entries(value)) collect(part, [...path, key], fields)
}

function count(
  path: readonly string[],
  fields: Map<string, { field: NumericField; count: number }>,
): void {
  const pointer = path.map(pointerSegment).join("")
  const entry = fields.get(pointer)
  if (entry !== undefined) {
    entry.count++
    return
  }
  if (fields.size >= MAX_FIELDS) return
  const label = path.length === 0 ? "value" : path.join(".")
  fields.set(pointer, { field: { pointer, path, label }, count: 1 })
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value)
}
