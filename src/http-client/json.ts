const MAX_DEPTH = 512

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Integers up to this many digits are safe: 9007199254740993, the first unsafe one, has 16. */
const SAFE_LENGTH = 15

/** Longest integer that becomes a `BigInt`: creating one takes more than linear time. */
export const MAX_BIGINT_LENGTH = 40

/** The result of parsing JSON: its value, or why it is invalid. */
export type ParsedJson =
  | {
      readonly is: "value"
      readonly value: unknown
      /** Integers that a JavaScript number cannot represent; absent if there are none. */
      readonly bigIntegers?: readonly string[]
    }
  | {
      readonly is: "broken"
      readonly reason: string
      /** The text starts as JSON and ends in the middle. */
      readonly isTruncated: boolean
    }
  | { readonly is: "too-deep"; readonly limit: number }

/** How a text is parsed. */
export interface ParseJsonOptions {
  /** Default: 512. `Infinity` skips the scan for depth and large integers. */
  readonly maxDepth?: number | undefined
  /**
   * `text`: integers that a JavaScript number cannot represent become strings; `exact`: `BigInt`s, up to
   * `MAX_BIGINT_LENGTH` characters.
   */
  readonly bigint?: "text" | "exact" | undefined
}

/**
 * Parses untrusted JSON.
 *
 * `JSON.parse` accepts any depth, but recursive code that walks the result does not; no real API needs
 * 512 levels.
 */
export function parseJson(text: string, options: ParseJsonOptions = {}): ParsedJson {
  const { maxDepth = MAX_DEPTH, bigint } = options
  // Every level needs two brackets: a shorter text is not too deep and has no room for a large integer.
  const isScanned =
    text.length > Math.min(SAFE_LENGTH, 2 * maxDepth) && maxDepth !== Number.POSITIVE_INFINITY
  const scanned = isScanned ? scan(text, maxDepth) : NOTHING
  if (scanned.isTooDeep) return { is: "too-deep", limit: maxDepth }
  try {
    const { big } = scanned
    if (big === undefined) return { is: "value", value: JSON.parse(text) as unknown }
    return {
      is: "value",
      value: parseWithBig(text, big, bigint),
      bigIntegers: big.map(([start, end]) => text.slice(start, end)),
    }
  } catch (error) {
    // The platform's message quotes the text; callers quote it in their own way.
    const at = /at position \d+|line \d+ column \d+/.exec(String(error))
    return {
      is: "broken",
      reason: at === null ? "not JSON" : `not JSON ${at[0]}`,
      isTruncated: /^\s*["[{]/.test(text) && scan(text, Number.POSITIVE_INFINITY).isOpen,
    }
  }
}

type Span = readonly [start: number, end: number]

/** The result of one pass over a text. */
interface Scan {
  readonly isTooDeep: boolean
  /** A bracket or a string is not closed. */
  readonly isOpen: boolean
  readonly big: readonly Span[] | undefined
}

const NOTHING: Scan = { isTooDeep: false, isOpen: false, big: undefined }

/** Checks brackets and the length of tokens without parsing. */
function scan(text: string, maxDepth: number): Scan {
  let depth = 0
  let big: Span[] | undefined
  /** The offset before the current token, which may be a number. */
  let start = -1
  const { length } = text
  for (let at = 0; at < length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
        if (at === length) return { isTooDeep: false, isOpen: true, big }
        start = at
        break
      case 0x5b:
      case 0x7b:
        if (++depth > maxDepth) return { isTooDeep: true, isOpen: true, big }
        start = at
        break
      case 0x5d:
      case 0x7d:
        depth--
        if (at - start > SAFE_LENGTH) big = withBig(text, start + 1, at, big)
        start = at
        break
      case 0x2c:
      case 0x3a:
      case 0x20:
      case 0x0a:
      case 0x0d:
      case 0x09:
        if (at - start > SAFE_LENGTH) big = withBig(text, start + 1, at, big)
        start = at
        break
      default:
    }
  }
  if (length - start > SAFE_LENGTH) big = withBig(text, start + 1, length, big)
  return { isTooDeep: false, isOpen: depth > 0, big }
}

function withBig(
  text: string,
  start: number,
  end: number,
  spans: Span[] | undefined,
): Span[] | undefined {
  const token = text.slice(start, end)
  if (!/^-?\d+$/.test(token) || Number.isSafeInteger(Number(token))) return spans
  const extended = spans ?? []
  extended.push([start, end])
  return extended
}

function parseWithBig(
  text: string,
  spans: readonly Span[],
  bigint: ParseJsonOptions["bigint"],
): unknown {
  if (bigint === undefined) return JSON.parse(text)
  if (bigint === "text") return JSON.parse(quoted(text, spans, ""))
  // Random, so that no text of a caller can begin with it.
  const mark = `bigint:${Math.random().toString(36).slice(2)}:`
  const short = spans.filter(([start, end]) => end - start <= MAX_BIGINT_LENGTH)
  return JSON.parse(quoted(text, short, mark), (_key, item: unknown) =>
    typeof item === "string" && item.startsWith(mark) ? BigInt(item.slice(mark.length)) : item,
  )
}

/** Large integers as strings that begin with a mark. */
function quoted(text: string, spans: readonly Span[], mark: string): string {
  const parts: string[] = []
  let from = 0
  for (const [start, end] of spans) {
    parts.push(text.slice(from, start), `"${mark}${text.slice(start, end)}"`)
    from = end
  }
  parts.push(text.slice(from))
  return parts.join("")
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = at - 1
    while (text.charCodeAt(escapes) === BACKSLASH) escapes--
    if ((at - escapes) % 2 === 1) return at
  }
  return text.length
}
