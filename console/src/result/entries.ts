import { namesOf } from "../../../src/internal/per-object.ts"

/** A property or item of a value. */
export interface Entry {
  readonly key: string
  readonly value: unknown
}

/** How many entries a value has. */
export function countOf(value: object): number {
  return Array.isArray(value) ? value.length : namesOf(value).length
}

/** Some entries of a value, in its own order. */
export function entriesOf(value: object, limit: number): readonly Entry[] {
  if (Array.isArray(value)) {
    return value.slice(0, limit).map((item: unknown, at) => ({ key: String(at), value: item }))
  }
  return namesOf(value)
    .slice(0, limit)
    .map((key) => ({ key, value: (value as Record<string, unknown>)[key] }))
}

/** A closed value in a few words: `{ id, name, … }`, `[ 3 items ]`. */
export function previewOf(value: object): string {
  const count = countOf(value)
  if (Array.isArray(value))
    return count === 0 ? "[ ]" : `[ ${count} ${count === 1 ? "item" : "items"} ]`
  if (count === 0) return "{ }"
  const keys = namesOf(value)
    .slice(0, 4)
    .map((key) => key.slice(0, 30))
  return `{ ${keys.join(", ")}${count > keys.length ? ", …" : ""} }`
}

/** Whether a tree opens a value by itself: near the root, small, and one of few. */
export function isOpenAtFirst(value: object, depth: number, siblings: number): boolean {
  return depth === 0 || (depth < 3 && countOf(value) <= MAX_OPEN && siblings <= MAX_OPEN)
}

const MAX_OPEN = 20
