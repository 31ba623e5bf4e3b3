const MAX_DEPTH = 512

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** What a text is as JSON: its value, or why it has none. */
export type ParsedJson =
  | { readonly is: "value"; readonly value: unknown }
  | { readonly is: "broken"; readonly reason: string }
  | { readonly is: "too-deep"; readonly limit: number }

/**
 * Parses a text from outside.
 *
 * The parser itself takes any depth; whoever walks the result by recursion afterwards does not, and
 * no API means 512 levels.
 */
export function parseJson(text: string, maxDepth: number = MAX_DEPTH): ParsedJson {
  if (isDeep(text, maxDepth)) return { is: "too-deep", limit: maxDepth }
  try {
    return { is: "value", value: JSON.parse(text) as unknown }
  } catch (error) {
    // The platform's message quotes the text, which the caller of this shows in its own way.
    const at = /at position \d+|line \d+ column \d+/.exec(String(error))
    return { is: "broken", reason: at === null ? "not JSON" : `not JSON ${at[0]}` }
  }
}

/** Whether brackets are nested too deep; nothing but the text is looked at, in one pass. */
function isDeep(text: string, maxDepth: number): boolean {
  if (text.length <= maxDepth) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
        break
      case 0x5b:
      case 0x7b:
        if (++depth > maxDepth) return true
        break
      case 0x5d:
      case 0x7d:
        depth--
        break
      default:
    }
  }
  return false
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = at - 1
    while (text.charCodeAt(escapes) === BACKSLASH) escapes--
    if ((at - escapes) % 2 === 1) return at
  }
  return text.length
}
