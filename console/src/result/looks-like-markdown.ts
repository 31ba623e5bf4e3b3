/** Marks that texts other than Markdown rarely have. */
const MARKS: readonly RegExp[] = [
  /^ {0,3}#{1,6} \S/m,
  /^ {0,3}(?:```|~~~)/m,
  /^ {0,3}[-*+] \S.*\n+ {0,3}[-*+] \S/m,
  /^ {0,3}1[.)] \S.*\n+ {0,3}2[.)] \S/m,
  /^ {0,3}\|.*\|[^\S\n]*\n {0,3}\|[\s:|-]+\|/m,
  /\[[^[\]\n]{1,200}\]\(https?:\/\/[^()\s]{1,500}\)/,
  /\*\*[^\s*][^*\n]{0,200}\*\*/,
]

/** Whether a text is likely to be Markdown. Source code and logs are not, though they may have some of its characters. */
export function looksLikeMarkdown(text: string): boolean {
  if (/^\s*[[{<]/.test(text)) return false
  return MARKS.some((mark) => mark.test(text))
}
