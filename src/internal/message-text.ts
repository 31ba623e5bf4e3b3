const MAX_QUOTE = 80

/** Formats a value for a message: as JSON if possible, cut at 80 characters. Never throws. */
export function quote(value: unknown): string {
  const text = print(value, 0)
  return text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE - 1)}…` : text
}

/** The JSON type of a value, or its JavaScript type if JSON has none. */
export function typeName(value: unknown): string {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  if (typeof value === "number" && !Number.isFinite(value)) return String(value)
  return typeof value
}

/** `"a", "b" or "c"`. */
export function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join("")
  return `${words.slice(0, -1).join(", ")} or ${words[words.length - 1]}`
}

/** The message of anything that was thrown. */
export function reasonOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : quote(thrown)
  } catch {
    return "unknown reason"
  }
}

/** The code of a platform's error, such as `ECONNREFUSED`. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code
  return typeof code === "string" ? code : undefined
}

/** A value as JSON; `undefined` if it cannot be written, such as one that is too deep. */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** Cuts a text to a length and adds "…". */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) ? length - 1 : length
  return `${text.slice(0, end)}…`
}

// `JSON.stringify` would walk all of a large value, and fail on a cyclic one.
function print(value: unknown, depth: number): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, MAX_QUOTE + 1))
  if (typeof value === "bigint") return `${value}n`
  if (typeof value === "function") return "a function"
  if (typeof value !== "object" || value === null) return String(value)
  let text = depth > 3 ? "…" : ""
  const isList = Array.isArray(value)
  try {
    const entries = text === "" ? Object.entries(isList ? value.slice(0, MAX_QUOTE) : value) : []
    for (const [key, item] of entries) {
      const name = isList ? "" : `${JSON.stringify(key)}:`
      text += (text && ",") + name + print(item, depth + 1)
      if (text.length > MAX_QUOTE) break
    }
  } catch {
    return "an object that cannot be read"
  }
  return isList ? `[${text}]` : `{${text}}`
}
