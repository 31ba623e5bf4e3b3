import { placeAt } from "../../internal/located.ts"

/** A place in a text, counted from one, with an excerpt. */
export interface TextPosition {
  readonly line: number
  readonly column: number
  readonly excerpt: string
}

const AROUND = 40

/** The line and column of a character, and the text around it. */
export function positionAt(text: string, offset: number): TextPosition {
  const { line, column } = placeAt(text, offset)
  const at = Math.min(Math.max(offset, 0), text.length)
  return { line, column, excerpt: excerptAt(text, at - column + 1, at) }
}

// The line of a minified document is the whole document.
function excerptAt(text: string, lineStart: number, at: number): string {
  const end = text.indexOf("\n", at)
  const lineEnd = end === -1 ? text.length : end
  return text.slice(Math.max(lineStart, at - AROUND), Math.min(lineEnd, at + AROUND)).trim()
}
