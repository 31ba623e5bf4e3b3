/** A place in a text, counted from one, with an excerpt. */
export interface TextPosition {
  readonly line: number
  readonly column: number
  readonly excerpt: string
}

const AROUND = 40

/** The line and column of a character. */
export function positionAt(text: string, offset: number): TextPosition {
  const at = Math.min(Math.max(offset, 0), text.length)
  let line = 1
  let lineStart = 0
  for (;;) {
    const next = text.indexOf("\n", lineStart)
    if (next === -1 || next >= at) break
    line++
    lineStart = next + 1
  }
  return { line, column: at - lineStart + 1, excerpt: excerptAt(text, lineStart, at) }
}

// The line of a minified document is the whole document.
function excerptAt(text: string, lineStart: number, at: number): string {
  const end = text.indexOf("\n", at)
  const lineEnd = end === -1 ? text.length : end
  return text.slice(Math.max(lineStart, at - AROUND), Math.min(lineEnd, at + AROUND)).trim()
}
