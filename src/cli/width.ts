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
