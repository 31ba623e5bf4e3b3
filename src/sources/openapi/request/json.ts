import { Unwritable, isBytes } from "./text.ts"

/** The result of checking a value for JSON; paths are for messages. */
export interface JsonCheck {
  /** The path of the first raw bytes; empty for the value itself. */
  readonly bytesAt?: string | undefined
  /** The first value that JSON would change silently. */
  readonly unsupported?: string | undefined
}

/** Checks a value for parts that JSON cannot represent; `jsonText` detects cycles. */
export function checkJson(value: unknown): JsonCheck {
  const seen = new Set<unknown>()
  const open: (readonly [unknown, string])[] = [[value, ""]]
  let bytesAt: string | undefined
  let unsupported: string | undefined
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [item, path] = next
    const issue = issueOf(item)
    if (issue !== undefined) unsupported ??= `has ${issue}${at(path)}`
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
  return { bytesAt, unsupported }
}

/**
 * Prints a value as JSON, with BigInts as numbers.
 *
 * Throws `Unwritable` for values that JSON would lose: raw bytes, `NaN`, maps, cycles.
 */
export function jsonText(value: unknown, jsonCheck: JsonCheck = checkJson(value)): string {
  if (jsonCheck.bytesAt !== undefined) {
    throw new Unwritable(
      `has raw bytes${at(jsonCheck.bytesAt)}, and JSON has no form for them: ` +
        `send text there (base64, if the API says so), or choose a multipart or binary content type`,
    )
  }
  if (jsonCheck.unsupported !== undefined) throw new Unwritable(jsonCheck.unsupported)
  const text = stringify(value)
  if (text === undefined) throw new Unwritable(`is a ${typeof value}, which JSON cannot represent`)
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
    if (!(thrown instanceof TypeError)) throw stringifyError(thrown)
  }
  // Random, so that no text of a caller can contain it.
  const mark = `bigint:${Math.random().toString(36).slice(2)}:`
  try {
    const text = JSON.stringify(value, (_key, item: unknown) =>
      typeof item === "bigint" ? `${mark}${item}` : item,
    )
    return text.replace(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1")
  } catch (thrown) {
    throw stringifyError(thrown)
  }
}

function stringifyError(thrown: unknown): Error {
  if (thrown instanceof RangeError) {
    return new Unwritable("is nested too deeply, or too large, to be written as JSON")
  }
  if (thrown instanceof TypeError)
    return new Unwritable("refers to itself, which JSON cannot represent")
  return new Unwritable("cannot be written as JSON: its own toJSON() failed")
}

function issueOf(item: unknown): string | undefined {
  if (typeof item === "number" && !Number.isFinite(item)) return String(item)
  if (item instanceof Map) return "a Map (pass a plain object)"
  if (item instanceof Set) return "a Set (pass a list)"
  if (item instanceof FormData || item instanceof URLSearchParams) return "a form, not data"
  if (item instanceof Date && Number.isNaN(item.getTime())) return "an invalid Date"
  return undefined
}

function at(path: string): string {
  return path === "" ? "" : ` at ${path}`
}
