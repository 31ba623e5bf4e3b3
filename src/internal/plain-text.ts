const MAX_LENGTH = 1000

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  nbsp: " ",
}

/** The beginning of Markdown or HTML as plain words in one line, for lists. */
export function plainText(text: string): string {
  return text
    .slice(0, MAX_LENGTH)
    .replaceAll(/<\/?(?:p|br|li|div|h\d|tr|td|hr)\b[^<>]*>/gi, " ")
    .replaceAll(/<!--[\s\S]*?(?:-->|$)|<\/?[a-zA-Z][^<>]*(?:>|$)/g, "")
    .replaceAll(/!?\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replaceAll(/^\s*(?:#{1,6}\s|>\s?|[-*+]\s)/gm, "")
    .replaceAll(/\*\*|~~|`+/g, "")
    .replaceAll(/(?<!\w)([*_])(\S[^*_\n]*?)\1(?!\w)/g, "$2")
    .replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? "")
    .replaceAll(/\s+/g, " ")
    .trim()
}
