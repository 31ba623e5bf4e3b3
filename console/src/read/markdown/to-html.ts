// Markdown to HTML that is harmless already: what sanitises it afterwards has nothing left to do.

import { Marked } from "marked"
import type { Token, Tokens } from "marked"
import { isWebAddress, plainHtml } from "./plain-html.ts"

/** Longer texts are cut: nobody reads them, and a parser may take long over them. */
export const MAX_MARKDOWN = 20_000

/** The same within a line. */
export const MAX_INLINE = 2000

// Below the heading of the page.
const FIRST_LEVEL = 2

// `> [!NOTE]`, as GitHub writes it.
const ALERT = /^( {0,3}> ?)\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\](?=\s*$)/gm

const marked = new Marked({
  async: false,
  gfm: true,
  breaks: false,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => plainHtml(text),
    // Within raw HTML the parser leaves text as it is.
    text(token) {
      return "tokens" in token && token.tokens !== undefined
        ? this.parser.parseInline(token.tokens)
        : escaped(token.text).replace(/&amp;(?=#?\w{1,31};)/g, "&")
    },
    // Pictures are on other hosts, which would learn who reads.
    image: ({ href, text }) => anchor(href, escaped(text === "" ? "image" : text)),
    link({ href, tokens }) {
      return anchor(href, this.parser.parseInline(tokens))
    },
    heading({ depth, tokens }) {
      return `<h${depth}>${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    code: ({ text }) => `<pre><code>${escaped(text)}\n</code></pre>\n`,
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
})

/** The HTML of a Markdown text. Pass it through the sanitiser all the same. */
export function toHtml(text: string): string {
  const shown = text.length > MAX_MARKDOWN ? `${text.slice(0, MAX_MARKDOWN)}…` : text
  try {
    const tokens = marked.lexer(shown.replace(ALERT, "$1**$2:**"))
    placeHeadings(tokens)
    return marked.parser(tokens)
  } catch {
    return `<p>${escaped(shown)}</p>`
  }
}

/** The HTML of a text within a line: no paragraphs, headings or lists. */
export function toInlineHtml(text: string): string {
  const shown = text.length > MAX_INLINE ? `${text.slice(0, MAX_INLINE)}…` : text
  try {
    return marked.parseInline(shown) as string
  } catch {
    return escaped(shown)
  }
}

/** Whether a text is only words, so that nothing has to be parsed. */
export function isPlain(text: string): boolean {
  return !/[\\`*_{}[\]<>#|~&\n]|^\s*(?:[-+>]|\d+[.)])\s|https?:|www\.|@/.test(text)
}

/** Headings of a text begin below that of the page, whatever they begin with. */
function placeHeadings(tokens: readonly Token[]): void {
  const headings = tokens.filter((token): token is Tokens.Heading => token.type === "heading")
  const highest = Math.min(...headings.map(({ depth }) => depth))
  for (const heading of headings) {
    heading.depth = Math.min(6, heading.depth - highest + FIRST_LEVEL)
  }
}

function anchor(href: string, content: string): string {
  // A path would lead to the hub itself, and not to where the text was written.
  return isWebAddress(href) ? `<a href="${escaped(href)}">${content}</a>` : content
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;")
}
