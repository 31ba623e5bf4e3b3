import { isPlainObject } from "./guards.ts"

/**
 * A frozen copy of plain data, all the way down; cycles included.
 *
 * Other values (class instances, functions, bytes) are not copied.
 */
export function frozenCopy(value: unknown): unknown {
  return copy(value, new Map())
}

function copy(value: unknown, seen: Map<object, object>): unknown {
  if (typeof value !== "object" || value === null) return value
  const existing = seen.get(value)
  if (existing !== undefined) return existing
  if (Array.isArray(value)) {
    const out: unknown[] = []
    seen.set(value, out)
    for (const item of value) out.push(copy(item, seen))
    return Object.freeze(out)
  }
  if (!isPlainObject(value)) return value
  const out: Record<string, unknown> = {}
  seen.set(value, out)
  for (const [key, item] of Object.entries(value)) {
    // Defined, not assigned: a key named `__proto__` stays a key.
    Object.defineProperty(out, key, { value: copy(item, seen), enumerable: true })
  }
  return Object.freeze(out)
}
