import { layoutOf, printKey, printLiteral } from "./print-value.ts"
import type { Layout, Plain } from "./print-value.ts"
import { closingOf, isPunctuation, nameIn, tokensOf } from "../../config/script-tokens.ts"
import type { Token } from "../../config/script-tokens.ts"

/** Adds a source to a configuration in JSON or JavaScript; `undefined` when no place is found. */
export function addToLiteral(
  text: string,
  style: "js" | "json",
  name: string,
  source: Plain,
): string | undefined {
  const { tokens, isComplete } = tokensOf(text)
  if (!isComplete) return undefined
  const keys = sourcesKeys(tokens, style)
  if (keys.length > 1) return undefined
  const editor = new Editor(text, tokens, style)
  const [key] = keys
  if (key === undefined) {
    const root = rootObject(tokens, style)
    // `{ sources }` and `{ ...shared }` may define sources: a second member would replace them.
    const hasHidden = style === "js" && tokens.some((_, at) => isHidden(tokens, at))
    return root === undefined || hasHidden
      ? undefined
      : editor.insert(root, "sources", { [name]: source })
  }
  const value = tokens[key + 2]
  if (isPunctuation(value, "{")) return editor.insert(key + 2, name, source)
  if (!isPunctuation(value, "[")) return undefined
  return editor.insert(key + 2, undefined, { namespace: name, ...(source as object) })
}

/** Indexes of keys named `sources`: in JSON only at the root, elsewhere any. */
function sourcesKeys(tokens: readonly Token[], style: "js" | "json"): number[] {
  return [...tokens.keys()].filter((at) => {
    const token = tokens[at] as Token
    if (token.kind === "mark" || nameIn(token) !== "sources") return false
    if (style === "json" && token.depth !== 1) return false
    return isPunctuation(tokens[at + 1], ":") && isPunctuation(tokens[at - 1], "{,")
  })
}

function isHidden(tokens: readonly Token[], at: number): boolean {
  const { source } = tokens[at] as Token
  if (source === "sources")
    return isPunctuation(tokens[at - 1], "{,") && isPunctuation(tokens[at + 1], "},")
  return source === "." && tokens[at + 1]?.source === "." && tokens[at + 2]?.source === "."
}

/** The object of the configuration: after `defineConfig(`, `export default` or `=> (`. */
function rootObject(tokens: readonly Token[], style: "js" | "json"): number | undefined {
  if (style === "json") return isPunctuation(tokens[0], "{") ? 0 : undefined
  const start = tokens.findIndex(({ source }, at) =>
    source === "defineConfig" ? isPunctuation(tokens[at + 1], "(") : source === "default",
  )
  if (start === -1) return undefined
  const at = tokens.findIndex((token, index) => index > start && isPunctuation(token, "{"))
  const before = tokens.slice(start, at)
  // `() => {` opens a function body.
  const isBody = isPunctuation(before.at(-1), ">")
  return at === -1 || isBody ? undefined : at
}

/** Inserts a member at the end of an object or a list, in the style of the existing ones. */
class Editor {
  readonly #text: string
  readonly #tokens: readonly Token[]
  readonly #style: "js" | "json"
  readonly #layout: Layout

  constructor(text: string, tokens: readonly Token[], style: "js" | "json") {
    this.#text = text
    this.#tokens = tokens
    this.#style = style
    this.#layout = layoutOf(text)
  }

  insert(open: number, key: string | undefined, value: Plain): string {
    const close = this.#tokens[closingOf(this.#tokens, open)] as Token
    const last = this.#tokens[closingOf(this.#tokens, open) - 1] as Token
    const isEmpty = last.end === this.#tokens[open]?.end
    const lineStart = this.#lineStart(close.start)
    const isOwnLine = this.#text.slice(lineStart, close.start).trim() === ""
    if (!isOwnLine && !isEmpty) return this.#behind(last, key, value)
    return this.#onLine(open, isOwnLine ? lineStart : close.start, last, isEmpty, key, value)
  }

  /** `{ a: 1 }` stays on its line. */
  #behind(last: Token, key: string | undefined, value: Plain): string {
    const hasComma = isPunctuation(last, ",")
    const member = `${this.#key(key)}${printLiteral(value, this.#style, this.#layout, this.#indentAt(last.start))}`
    const added = hasComma ? ` ${member},` : `, ${member}`
    return this.#text.slice(0, last.end) + added + this.#text.slice(last.end)
  }

  #onLine(
    open: number,
    at: number,
    last: Token,
    isEmpty: boolean,
    key: string | undefined,
    value: Plain,
  ): string {
    const text = this.#text
    const { newline, indent } = this.#layout
    const outer = this.#indentAt((this.#tokens[open] as Token).start)
    const inner = isEmpty ? outer + indent : this.#indentAt(this.#firstMember(open))
    const hasComma = isPunctuation(last, ",")
    const comma = this.#style === "js" || hasComma ? "," : ""
    const member = `${inner}${this.#key(key)}${printLiteral(value, this.#style, this.#layout, inner)}${comma}`
    const before = text.slice(0, last.end) + (isEmpty || hasComma ? "" : ",")
    // `{}` is spread over several lines.
    const isInline = text.slice(this.#lineStart(at), at).trim() !== ""
    const between = text.slice(last.end, at)
    if (!isInline) return `${before}${between}${member}${newline}${text.slice(at)}`
    return `${before}${between.trimEnd()}${newline}${member}${newline}${outer}${text.slice(at)}`
  }

  #key(key: string | undefined): string {
    return key === undefined ? "" : `${printKey(key, this.#style)}: `
  }

  #firstMember(open: number): number {
    return (this.#tokens[open + 1] as Token).start
  }

  #lineStart(at: number): number {
    return this.#text.lastIndexOf("\n", at - 1) + 1
  }

  #indentAt(at: number): string {
    return /^[\t ]*/.exec(this.#text.slice(this.#lineStart(at)))?.[0] ?? ""
  }
}
