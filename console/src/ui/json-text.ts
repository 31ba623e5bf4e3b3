// JSON of inputs and results, in which integers beyond 2^53 keep their digits: as `BigInt`s.

// Random, so that no text that somebody typed can begin with it.
const MARK = `bigint:${Math.random().toString(36).slice(2)}:`
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, "g")

/** A value as JSON text; `undefined` for no value. */
export function printJson(value: unknown, indent?: number): string | undefined {
  // `undefined` where the types of the platform promise a text.
  const print = (replacer?: typeof withMark): string | undefined =>
    JSON.stringify(value, replacer, indent)
  try {
    return print()
  } catch {
    // It has a `BigInt`. Other values are printed several times as fast without a function.
    return unmarked(print(withMark) ?? "")
  }
}

/** JSON text with digits in place of marked texts. */
export function unmarked(text: string): string {
  return text.replaceAll(MARKED, "$1")
}

/** Parses JSON; throws a `SyntaxError`. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // Not the digits after a point: long fractions are common, and reading twice takes long.
  if (!/(?<![\d.])\d{16,}(?![\d.eE])/.test(text)) return value
  return mapped(JSON.parse(text.replaceAll(TOKEN, marked)), withoutMark)
}

/** The number of digits that were typed: a `BigInt` where a number would change them. */
export function toInteger(digits: string): number | bigint {
  const number = Number(digits)
  return Number.isSafeInteger(number) || String(number) === digits ? number : BigInt(digits)
}

/** A value with numbers in place of `BigInt`s, for what does not know those. */
export function withNumbers(value: unknown): unknown {
  return mapped(value, (item) => (typeof item === "bigint" ? Number(item) : item))
}

/** A value with marked texts in place of `BigInt`s, for what can only hold JSON. */
export function withMarks(value: unknown): unknown {
  return mapped(value, (item) => withMark("", item))
}

/** A value with other leaves; the same value where none changes. */
function mapped(value: unknown, map: (leaf: unknown) => unknown): unknown {
  if (typeof value !== "object" || value === null) return map(value)
  let isChanged = false
  const entries = Object.entries(value).map(([key, item]: [string, unknown]) => {
    const next = mapped(item, map)
    isChanged ||= next !== item
    return [key, next] as const
  })
  if (!isChanged) return value
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries)
}

function withMark(_key: string, item: unknown): unknown {
  return typeof item === "bigint" ? `${MARK}${item}` : item
}

/** A string or a number in valid JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

function marked(token: string): string {
  const isLarge = /^-?\d{16,}$/.test(token) && typeof toInteger(token) === "bigint"
  return isLarge ? `"${MARK}${token}"` : token
}

function withoutMark(item: unknown): unknown {
  return typeof item === "string" && item.startsWith(MARK) ? BigInt(item.slice(MARK.length)) : item
}
