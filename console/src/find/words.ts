/** A text for comparison: lower-case, without accents. */
export function plain(text: string): string {
  const lower = text.toLowerCase()
  // Most texts have no accents, and testing for them is cheaper than normalizing.
  return isAscii(lower) ? lower : lower.normalize("NFKD").replaceAll(/\p{M}/gu, "")
}

/** The words of a query. */
export function tokensOf(text: string): readonly string[] {
  return text.split(/[^\p{L}\p{N}]+/u).filter((token) => token !== "")
}

/** A piece of a text, and whether it matches the query. */
export interface Piece {
  readonly text: string
  readonly isMatch: boolean
}

/** Splits a text into pieces that match the query or not. */
export function highlightMatches(text: string, tokens: readonly string[]): readonly Piece[] {
  const lower = plain(text)
  // If removing accents changed the length, positions differ between the two texts.
  if (tokens.length === 0 || lower.length !== text.length) return [{ text, isMatch: false }]
  const marks = new Uint8Array(text.length)
  for (const token of tokens) {
    for (let at = lower.indexOf(token); at !== -1; at = lower.indexOf(token, at + token.length)) {
      marks.fill(1, at, at + token.length)
    }
  }
  return pieces(text, marks)
}

function pieces(text: string, marks: Uint8Array): readonly Piece[] {
  const parts: Piece[] = []
  let start = 0
  for (let at = 1; at <= text.length; at++) {
    if (at < text.length && marks[at] === marks[start]) continue
    parts.push({ text: text.slice(start, at), isMatch: marks[start] === 1 })
    start = at
  }
  return parts
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 127) return false
  }
  return true
}
