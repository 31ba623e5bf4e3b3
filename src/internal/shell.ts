/** A text as one word of a POSIX shell; bare where nothing in it means anything to one. `=` in front does in zsh. */
export function shellWord(text: string): string {
  return /^[\w@%+:,./-][\w@%+:,./=-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** Words of a command; on several lines where one would be too long. */
export function shellLine(words: readonly string[], most = 90): string {
  const line = words.join(" ")
  if (line.length <= most) return line
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    // An option and its value stay together; so do the first words.
    const isValue = last !== undefined && /(?:^|\s)--?[A-Za-z][\w-]*$/.test(last)
    const isHead = lines.length === 1 && !word.startsWith("-") && !/[=']/.test(word)
    if (last === undefined) lines.push(word)
    else if (isValue || isHead) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.join(" \\\n  ")
}
