/**
 * Splits a command line at blanks, except within quotation marks. It expands no variables and uses no
 * shell. `undefined` when a quotation mark is not closed.
 *
 * A backslash escapes only a blank, a quotation mark or another backslash, so that Windows paths stay
 * intact.
 */
export function splitCommandLine(text: string): readonly string[] | undefined {
  const words: string[] = []
  let word = ""
  let isWord = false
  let quote = ""
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === "\\" && quote !== "'" && /["'\s\\]/.test(text.charAt(at + 1))) {
      word += text.charAt(++at)
      isWord = true
    } else if (quote !== "") {
      if (character === quote) quote = ""
      else word += character
    } else if (character === '"' || character === "'") {
      quote = character
      isWord = true
    } else if (/\s/.test(character)) {
      if (isWord) words.push(word)
      word = ""
      isWord = false
    } else {
      word += character
      isWord = true
    }
  }
  if (quote !== "") return undefined
  if (isWord) words.push(word)
  return words
}
