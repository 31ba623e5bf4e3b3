// Canonical JSON: independent of key order, and never fails.

/** Deeper than any real definition. */
const MAX_DEPTH = 1000

/**
 * Prints JSON with sorted keys and without spaces: equal data gives equal text.
 *
 * A key named `__proto__` is an ordinary key. Values that JSON cannot represent are distinguished from those
 * it can, and neither cycles nor depth make it fail.
 */
export function canonicalJson(value: unknown): string {
  return print(value, [])
}

/** Prints any value as JSON; uses `canonicalJson` for values that JSON cannot represent. */
export function printJson(value: unknown): string {
  try {
    const text = JSON.stringify(value) as string | undefined
    if (text !== undefined) return text
  } catch {
    // A cycle, a BigInt, or nested beyond what the platform can print.
  }
  return canonicalJson(value)
}

/** The nesting depth of data, counted without recursion; stops counting past `limit`. */
export function depthOf(value: unknown, limit: number): number {
  let depth = 0
  let level: unknown[] = [value]
  const seen = new Set<unknown>()
  while (depth <= limit) {
    const next: unknown[] = []
    for (const item of level) {
      if (typeof item !== "object" || item === null || seen.has(item)) continue
      seen.add(item)
      for (const child of Object.values(item)) next.push(child)
    }
    if (next.length === 0) return depth
    depth++
    level = next
  }
  return depth
}

function print(value: unknown, path: readonly object[]): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value)
    case "number":
      return Number.isFinite(value) ? JSON.stringify(value) : `"[${String(value)}]"`
    case "boolean":
      return String(value)
    case "bigint":
      return `"[bigint ${String(value)}]"`
    case "object":
      return value === null ? "null" : printObject(value, path)
    default:
      return `"[${typeof value}]"`
  }
}

function printObject(value: object, path: readonly object[]): string {
  if (path.includes(value)) return `"[circular]"`
  if (path.length >= MAX_DEPTH) return `"[too deep]"`
  const inner = [...path, value]
  if (Array.isArray(value)) return `[${value.map((item) => print(item, inner)).join(",")}]`
  const entries = Object.entries(value)
    // As in JSON, a member that is `undefined` is left out.
    .filter(([, item]) => item !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${print(item, inner)}`).join(",")}}`
}
