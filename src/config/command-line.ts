/**
 * The words of a command line: blanks part them, quotation marks keep them together. Nothing is
 * filled in, and no shell is asked. `undefined` when a quotation mark is not closed.
 *
 * A backslash counts only in front of a blank, a quotation mark or another one, so that paths of
 * Windows stay what they are.
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
