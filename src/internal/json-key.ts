import { isPlainObject } from "./guards.ts"

/** Inputs with more levels get no key. */
const MAX_DEPTH = 64

/**
 * A text that is equal for equal JSON data, whatever the order of keys; members that are `undefined` are left out.
 * `undefined` for values that are not JSON: bytes, dates, streams, cycles.
 */
export function jsonKey(value: unknown): string | undefined {
  if (value === undefined) return ""
  try {
    return print(value, 0)
  } catch (thrown) {
    if (thrown === NOT_JSON) return undefined
    throw thrown
  }
}

const NOT_JSON = new Error("not JSON")

function print(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return quoted(value)
    case "number":
      if (!Number.isFinite(value)) throw NOT_JSON
      return `${value}`
    case "boolean":
      return value ? "true" : "false"
    case "object":
      if (value === null) return "null"
      if (depth === MAX_DEPTH) throw NOT_JSON
      if (Array.isArray(value)) return printList(value, depth + 1)
      if (!isPlainObject(value)) throw NOT_JSON
      return printMembers(value, depth + 1)
    default:
      throw NOT_JSON
  }
}

/** A text with its length in front, so that nothing has to be escaped. */
function quoted(text: string): string {
  return `"${text.length}:${text}`
}

function printList(list: readonly unknown[], depth: number): string {
  let text = "["
  for (const item of list) text += `${print(item, depth)},`
  return `${text}]`
}

function printMembers(members: Record<string, unknown>, depth: number): string {
  const keys = Object.keys(members)
  if (keys.length > 1) keys.sort()
  let text = "{"
  for (const key of keys) {
    const value = members[key]
    if (value !== undefined) text += `${quoted(key)}${print(value, depth)},`
  }
  return `${text}}`
}
