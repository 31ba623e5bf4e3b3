const MAX_LENGTH = 1000

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  nbsp: " ",
}

const TAG =
  /<\/?(?:a|b|i|u|em|strong|code|pre|span|small|sup|sub|ul|ol|table|thead|tbody|th|blockquote|img)\b[^<>]*>/gi
const BLOCK = /<\/?(?:p|br|li|div|h\d|tr|td|hr)\b[^<>]*>/gi

/** A text without the tags of HTML, and with its paragraphs; other words in angle brackets stay. */
export function withoutHTML(text: string): string {
  if (!/<\/?[a-z]/i.test(text)) return text
  const lines = decoded(text.replaceAll(BLOCK, "\n").replaceAll(TAG, "")).split("\n")
  return lines
    .map((line) => line.trim())
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()
}

function decoded(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? "")
}

/** The beginning of Markdown or HTML as plain words in one line, for lists. */
export function plainText(text: string): string {
  const words = text
    .slice(0, MAX_LENGTH)
    .replaceAll(BLOCK, " ")
    .replaceAll(/<!--[\s\S]*?(?:-->|$)|<\/?[a-zA-Z][^<>]*(?:>|$)/g, "")
    .replaceAll(/!?\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replaceAll(/^\s*(?:#{1,6}\s|>\s?|[-*+]\s)/gm, "")
    .replaceAll(/\*\*|~~|`+/g, "")
    .replaceAll(/(?<!\w)([*_])(\S[^*_\n]*?)\1(?!\w)/g, "$2")
  return decoded(words).replaceAll(/\s+/g, " ").trim()
}
