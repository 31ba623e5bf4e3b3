import type { TextSink } from "./model.ts"

/** A space without a line break, for commands that are printed to be copied; printed as a space. */
const FIXED = "\u00A0"

/** Keeps a text on one line. */
export function unbroken(text: string): string {
  return text.replaceAll(" ", FIXED)
}

/** Wraps a text between words on a terminal; elsewhere it stays unchanged. */
export function wrapFor({ isTTY, columns }: TextSink, text: string): string {
  const fitted = isTTY === true && columns !== undefined ? wrap(text, columns) : text
  return fitted.replaceAll(FIXED, " ")
}

/**
 * Wraps each line of a text between words to a number of columns.
 *
 * Continuation lines are indented like the line, after its list marker. A word that is wider than the
 * terminal gets its own line, so that a URL or path can be copied.
 */
export function wrap(text: string, columns: number): string {
  return text
    .split("\n")
    .map((line) => wrapLine(line, columns))
    .join("\n")
}

// oxlint-disable-next-line no-control-regex -- colours begin with one
const COLOUR = String.raw`(?:\u001B\[\d*m)*`
/** Indentation of continuation lines: spaces, a list marker, or the column after a gap. */
const START = new RegExp(String.raw`^${COLOUR} *(?:${COLOUR}[✓✗!?…#-]${COLOUR} )?`, "u")
// Text without spaces, as in Chinese and Japanese, is wrapped between characters, but not before punctuation.
const WORDS =
  /[ \t]+|[\u2E80-\u9FFF\uAC00-\uD7A3\uF900-\uFAFF\uFF00-\uFF60][\u3001\u3002\u300D\u300F\uFF01\uFF09\uFF0C\uFF1A\uFF1F]*|[^ \t\u2E80-\u9FFF\uAC00-\uD7A3\uF900-\uFAFF\uFF00-\uFF60]+/gu

function wrapLine(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line
  const column = /^ +\S.*?\S {3,}(?=\S)/.exec(line)?.[0]
  const isColumn = column !== undefined && widthOf(column) <= columns / 2
  const start = isColumn ? column : (START.exec(line)?.[0] ?? "")
  const width = Math.min(widthOf(start), Math.floor(columns / 2))
  const indent = start.endsWith("# ") ? start : " ".repeat(width)
  const lines: string[] = []
  let current = start
  let used = widthOf(start)
  let gap = ""
  let isEmpty = true
  for (const [word] of line.slice(start.length).matchAll(WORDS)) {
    if (/^[ \t]/.test(word)) {
      gap = word
      continue
    }
    const needed = widthOf(word)
    if (used + gap.length + needed > columns && !isEmpty) {
      lines.push(current.trimEnd())
      current = indent + word
      used = width + needed
    } else {
      current += gap + word
      used += gap.length + needed
    }
    gap = ""
    isEmpty = false
  }
  return [...lines, current].join("\n")
}

/** Columns that a text takes: without escape sequences, wide characters counted twice. */
export function widthOf(text: string): number {
  let width = 0
  // oxlint-disable-next-line no-control-regex -- colours begin with one
  for (const char of text.replaceAll(/\u001B\[\d*m/g, "")) width += charWidth(char)
  return width
}

/** Columns that a character takes: 0, 1 or 2. */
export function charWidth(char: string): number {
  if (/^\p{Mark}|\u200D|\uFE0F$/u.test(char)) return 0
  return /^[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation}/u.test(
    char,
  )
    ? 2
    : 1
}
