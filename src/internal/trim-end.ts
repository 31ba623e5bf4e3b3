/**
 * A text without any of some characters at its end.
 *
 * `text.replace(/[ab]+$/, "")` says the same, but takes time quadratic in a run of them that is not at the end.
 */
export function trimEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
