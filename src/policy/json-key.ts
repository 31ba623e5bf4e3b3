import { isPlainObject } from "../internal/guards.ts"

/** Inputs with more levels get no key. */
const MAX_DEPTH = 64

/**
 * A text that is equal for equal JSON data, whatever the order of keys; members that are `undefined` are left out.
 * `undefined` for values that are not JSON: bytes, dates, streams, cycles.
 */
export function jsonKey(value: unknown): string | undefined {
  if (value === undefined) return ""
  try {
    return print(value, 0, refuse)
  } catch (thrown) {
    if (thrown === NOT_JSON) return undefined
    throw thrown
  }
}

/** The same for any value: what is not JSON is equal only to itself, in this process. */
export function referenceKey(value: unknown): string {
  return print(value, 0, refer)
}

/** The text of a value that is not JSON. */
type Other = (value: unknown) => string

const NOT_JSON = new Error("not JSON")
const refuse: Other = () => {
  throw NOT_JSON
}

const references = new WeakMap<object, number>()
let lastReference = 0
const refer: Other = (value) => {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") {
    return `${typeof value} ${String(value)}`
  }
  const reference = references.get(value) ?? ++lastReference
  references.set(value, reference)
  return `#${reference}`
}

function print(value: unknown, depth: number, other: Other): string {
  switch (typeof value) {
    case "string":
      return quoted(value)
    case "number":
      if (!Number.isFinite(value)) return other(value)
      return `${value}`
    case "boolean":
      return value ? "true" : "false"
    case "object":
      if (value === null) return "null"
      if (depth === MAX_DEPTH) return other(value)
      if (Array.isArray(value)) return printList(value, depth + 1, other)
      if (!isPlainObject(value)) return other(value)
      return printMembers(value, depth + 1, other)
    default:
      return other(value)
  }
}

/** A text with its length in front, so that nothing has to be escaped. */
function quoted(text: string): string {
  return `"${text.length}:${text}`
}

function printList(list: readonly unknown[], depth: number, other: Other): string {
  let text = "["
  for (const item of list) text += `${print(item, depth, other)},`
  return `${text}]`
}

function printMembers(members: Record<string, unknown>, depth: number, other: Other): string {
  const keys = Object.keys(members)
  if (keys.length > 1) keys.sort()
  let text = "{"
  for (const key of keys) {
    const value = members[key]
    if (value !== undefined) text += `${quoted(key)}${print(value, depth, other)},`
  }
  return `${text}}`
}
