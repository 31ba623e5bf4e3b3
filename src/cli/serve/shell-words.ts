/** A word as a shell takes it literally: bare where that is safe, else in single quotes. */
function shellWord(word: string): string {
  // `=` at the start of a word means something to zsh.
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(word)) return word
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** A command line of words. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ")
}
