const MAX_QUOTE = 80

/** A value for a message: JSON where possible, cut at 80 characters. Never throws. */
export function quote(value: unknown): string {
  const text = print(value, 0)
  return text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE - 1)}…` : text
}

/** The JSON type of a value, or its JavaScript type where JSON has none. */
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

// JSON.stringify would walk all of a large value (and fail on a cyclic one) to show 80 characters of it.
function print(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.slice(0, MAX_QUOTE + 1))
    case "bigint":
      return `${value}n`
    case "function":
      return "a function"
    case "object":
      break
    default:
      return String(value)
  }
  if (value === null) return "null"
  if (depth > 3) return Array.isArray(value) ? "[…]" : "{…}"
  try {
    return printObject(value, depth + 1)
  } catch {
    return "an object that cannot be read"
  }
}

function printObject(value: object, depth: number): string {
  let length = 0
  const parts: string[] = []
  const add = (part: string): boolean => {
    parts.push(part)
    length += part.length
    return length < MAX_QUOTE
  }
  if (Array.isArray(value)) {
    for (const item of value) if (!add(print(item, depth))) break
    return `[${parts.join(",")}]`
  }
  for (const [key, item] of Object.entries(value)) {
    if (!add(`${JSON.stringify(key)}:${print(item, depth)}`)) break
  }
  return `{${parts.join(",")}}`
}
