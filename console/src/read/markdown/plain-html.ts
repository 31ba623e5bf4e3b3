/** Elements that descriptions may have. */
export const TAGS: readonly string[] = [
  ...[
    "p",
    "br",
    "hr",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "pre",
    "code",
    "kbd",
    "samp",
    "var",
  ],
  ...["ul", "ol", "li", "dl", "dt", "dd", "strong", "b", "em", "i", "u", "s", "del", "ins", "mark"],
  ...["sub", "sup", "small", "q", "a", "abbr", "table", "thead", "tbody", "tr", "th", "td"],
]

/** Attributes that they may have. */
export const ATTRIBUTES: readonly string[] = ["href", "align", "start"]

/** The schemes of link addresses. */
export const ADDRESS = /^(?:https?:\/\/|mailto:)/i

const KEPT = new Set(TAGS)
const TAG = /<!--[\s\S]*?(?:-->|$)|<(\/?)([a-zA-Z][a-zA-Z0-9-]*)([^<>]*)>/g
// The content of these is not text.
const UNREADABLE =
  /<(script|style|template|iframe|object|svg|math|noscript)\b[\s\S]*?(?:<\/\1\s*>|$)/gi

/** Whether an address leads to a page elsewhere, or to a mailbox. */
export function isWebAddress(href: string): boolean {
  return ADDRESS.test(href) && !/[\s"'<>`\\]/.test(href) && URL.canParse(href)
}

/**
 * The HTML of a description, reduced to harmless elements; the only attributes are link addresses.
 *
 * A sanitizer would parse it first, which browsers report where a policy forbids inline styles.
 */
export function plainHtml(html: string): string {
  const readable = html.replace(UNREADABLE, "")
  let plain = ""
  let end = 0
  for (const match of readable.matchAll(TAG)) {
    plain += textOf(readable.slice(end, match.index)) + tagOf(match)
    end = match.index + match[0].length
  }
  return plain + textOf(readable.slice(end))
}

function textOf(text: string): string {
  return text.replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}

function tagOf([, slash = "", tag = "", attributes = ""]: readonly (string | undefined)[]): string {
  const name = tag.toLowerCase()
  if (name === "h1") return `<${slash}h2>`
  if (!KEPT.has(name)) return ""
  if (name !== "a" || slash !== "") return `<${slash}${name}>`
  const [, double, single, bare] =
    /(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes) ?? []
  const address = (double ?? single ?? bare ?? "").replaceAll("&amp;", "&")
  return isWebAddress(address) ? `<a href="${address.replaceAll("&", "&amp;")}">` : "<a>"
}
