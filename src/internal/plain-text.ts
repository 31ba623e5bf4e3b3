const MAX_LENGTH = 1000

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  nbsp: " ",
}

/** Tags within a line. */
const INLINE: ReadonlySet<string> = new Set(
  "a b i u em strong code pre span small sup sub ul ol table thead tbody th blockquote img".split(
    " ",
  ),
)
const BLOCK = /<\/?(?:p|br|li|div|h\d|tr|td|hr)\b[^<>]*>/gi

/** A text without the tags of HTML, and with its paragraphs; other words in angle brackets stay. */
export function withoutHTML(text: string): string {
  if (!/<\/?[a-z]/i.test(text)) return text
  const [first = "", ...parts] = text.replaceAll(BLOCK, "\n").split("<")
  const lines = decoded(first + parts.map(withoutTag).join(""))
    .split("\n")
    .map((line) => line.trim())
  return lines
    .filter((line, at) => line !== "" || lines[at - 1] !== "")
    .join("\n")
    .trim()
}

/** What follows a `<`, without the tag that it begins. */
function withoutTag(part: string): string {
  const [name = ""] = /^\/?\w*/.exec(part) ?? []
  const end = part.indexOf(">")
  const isTag = end >= 0 && INLINE.has(name.replace("/", "").toLowerCase())
  return isTag ? part.slice(end + 1) : `<${part}`
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
