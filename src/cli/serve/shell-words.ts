/** Quotes a word for a shell, if needed. */
function shellWord(word: string): string {
  // `=` at the start of a word has a meaning in zsh.
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(word)) return word
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** Joins words to a shell command line. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ")
}
