import { Unwritable } from "./fault.ts"
import { isBytes } from "./text.ts"

/** What a look through a value found; the paths are for messages. */
export interface Survey {
  /** Where the first raw bytes are; empty for the value itself. */
  readonly bytesAt?: string | undefined
  /** The first thing that JSON would change without a word. */
  readonly unsayable?: string | undefined
}

/** Looks through a value for what JSON cannot say; loops are left to `jsonText`. */
export function survey(value: unknown): Survey {
  const seen = new Set<unknown>()
  const open: (readonly [unknown, string])[] = [[value, ""]]
  let bytesAt: string | undefined
  let unsayable: string | undefined
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [item, path] = next
    const fault = faultOf(item)
    if (fault !== undefined) unsayable ??= `has ${fault}${at(path)}`
    if (typeof item !== "object" || item === null || seen.has(item)) continue
    if (isBytes(item)) {
      bytesAt ??= path
      continue
    }
    seen.add(item)
    if (typeof (item as { toJSON?: unknown }).toJSON === "function") continue
    for (const key of Object.keys(item).toReversed()) {
      const child = (item as Record<string, unknown>)[key]
      if (typeof child === "object" || typeof child === "number")
        open.push([child, `${path}/${key}`])
    }
  }
  return { bytesAt, unsayable }
}

/**
 * The JSON text of a value, with big integers as digits.
 *
 * Throws `Unwritable` for what JSON would lose: raw bytes, `NaN`, maps, loops.
 */
export function jsonText(value: unknown, found: Survey = survey(value)): string {
  if (found.bytesAt !== undefined) {
    throw new Unwritable(
      `has raw bytes${at(found.bytesAt)}, and JSON has no form for them: ` +
        `send text there (base64, if the API says so), or choose a multipart or binary content type`,
    )
  }
  if (found.unsayable !== undefined) throw new Unwritable(found.unsayable)
  const text = stringify(value)
  if (text === undefined) throw new Unwritable(`is a ${typeof value}, which JSON cannot say`)
  return text
}

/** JSON in ASCII, for headers. */
export function asciiJson(value: unknown): string {
  return jsonText(value).replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
}

function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw stringifyFault(thrown)
  }
  // No text of a caller can look like it: the caller does not know this number.
  const mark = `bigint:${Math.random().toString(36).slice(2)}:`
  try {
    const text = JSON.stringify(value, (_key, item: unknown) =>
      typeof item === "bigint" ? `${mark}${item}` : item,
    )
    return text.replace(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1")
  } catch (thrown) {
    throw stringifyFault(thrown)
  }
}

function stringifyFault(thrown: unknown): Error {
  if (thrown instanceof RangeError) {
    return new Unwritable("is nested too deeply, or too large, to be written as JSON")
  }
  if (thrown instanceof TypeError) return new Unwritable("refers to itself, which JSON cannot say")
  return new Unwritable("cannot be written as JSON: its own toJSON() failed")
}

function faultOf(item: unknown): string | undefined {
  if (typeof item === "number" && !Number.isFinite(item)) return String(item)
  if (item instanceof Map) return "a Map (give a plain object)"
  if (item instanceof Set) return "a Set (give a list)"
  if (item instanceof FormData || item instanceof URLSearchParams) return "a form, not data"
  if (item instanceof Date && Number.isNaN(item.getTime())) return "a Date that is none"
  return undefined
}

function at(path: string): string {
  return path === "" ? "" : ` at ${path}`
}
