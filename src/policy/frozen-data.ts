import { isPlainObject } from "../internal/guards.ts"

/** Data that can be shared, and its approximate size in bytes. */
export interface FrozenData {
  readonly data: unknown
  readonly size: number
}

const MAX_DEPTH = 512
/** Approximate bytes of an object or a number besides its content. */
const OVERHEAD = 16

/**
 * A copy of JSON data that is frozen all the way down, so that callers can share it: the handler may go on changing
 * its own. `undefined` for values that cannot be frozen, such as bytes.
 */
export function freezeData(value: unknown): FrozenData | undefined {
  const measure = { size: 0 }
  try {
    return { data: copy(value, measure, 0), size: measure.size }
  } catch (thrown) {
    if (thrown === CANNOT_FREEZE) return undefined
    throw thrown
  }
}

const CANNOT_FREEZE = new Error("cannot be frozen")

function copy(value: unknown, measure: { size: number }, depth: number): unknown {
  measure.size += OVERHEAD
  if (typeof value === "string") {
    measure.size += value.length * 2
    return value
  }
  if (typeof value === "function") throw CANNOT_FREEZE
  if (typeof value !== "object" || value === null) return value
  if (depth === MAX_DEPTH) throw CANNOT_FREEZE
  if (Array.isArray(value)) {
    return Object.freeze(value.map((item) => copy(item, measure, depth + 1)))
  }
  if (!isPlainObject(value)) throw CANNOT_FREEZE
  const members = Object.entries(value).map(([key, item]): [string, unknown] => {
    measure.size += key.length * 2
    return [key, copy(item, measure, depth + 1)]
  })
  // Entries are defined, not assigned: a key named `__proto__` stays a key.
  return Object.freeze(Object.fromEntries(members))
}
