/**
 * Removes the given characters from the end of a text.
 *
 * `text.replace(/[ab]+$/, "")` does the same, but takes quadratic time on a long run that is not at the end.
 */
export function trimEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
