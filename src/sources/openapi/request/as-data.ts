import { isPlainObject, isRecord } from "../../../internal/guards.ts"
import { setOwn } from "../../../schema/json.ts"
import { isBytes } from "./text.ts"

const DEEPEST = 100

/**
 * Converts an input to the JSON that its schema describes: a `Date` in a parameter becomes text, a `BigInt` a
 * number, and a binary body text. The request itself is built from the original values.
 */
export function inputAsData(input: unknown): unknown {
  if (!isRecord(input)) return input
  return mapped(input, (value, key) =>
    key === "body" ? (isBytes(value) ? "" : withoutBigInts(value, 0)) : parameterAsData(value, 0),
  )
}

function parameterAsData(value: unknown, depth: number): unknown {
  if (typeof value === "bigint") return Number(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? value : value.toISOString()
  return deeper(value, depth, parameterAsData)
}

/** Converts BigInts in a body. Dates in a body must be text: only for parameters is their format known. */
function withoutBigInts(value: unknown, depth: number): unknown {
  return typeof value === "bigint" ? Number(value) : deeper(value, depth, withoutBigInts)
}

function deeper(
  value: unknown,
  depth: number,
  map: (value: unknown, depth: number) => unknown,
): unknown {
  if (typeof value !== "object" || value === null || depth > DEEPEST || isBytes(value)) return value
  if (Array.isArray(value)) return value.map((item) => map(item, depth + 1))
  if (!isPlainObject(value)) return value
  return mapped(value, (item) => map(item, depth + 1))
}

function mapped(
  value: Readonly<Record<string, unknown>>,
  map: (value: unknown, key: string) => unknown,
): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(value)) setOwn(out, key, map(value[key], key))
  return out
}
