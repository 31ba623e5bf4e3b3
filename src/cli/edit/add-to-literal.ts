import { layoutOf, printKey, printLiteral, type Plain } from "./print-value.ts"
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
  const add = (open: number, memberKey: string | undefined, value: Plain): string =>
    insert(text, tokens, style, open, memberKey, value)
  const [key] = keys
  if (key === undefined) {
    const root = rootObject(tokens, style)
    // `{ sources }` and `{ ...shared }` may define sources: a second member would replace them.
    const hasHidden = style === "js" && tokens.some((_, at) => isHidden(tokens, at))
    return root === undefined || hasHidden ? undefined : add(root, "sources", { [name]: source })
  }
  const value = tokens[key + 2]
  if (isPunctuation(value, "{")) return add(key + 2, name, source)
  if (!isPunctuation(value, "[")) return undefined
  return add(key + 2, undefined, { namespace: name, ...(source as object) })
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
function insert(
  text: string,
  tokens: readonly Token[],
  style: "js" | "json",
  open: number,
  key: string | undefined,
  value: Plain,
): string {
  const layout = layoutOf(text)
  const { newline, indent } = layout
  const lineStart = (at: number): number => text.lastIndexOf("\n", at - 1) + 1
  const indentAt = (at: number): string => /^[\t ]*/.exec(text.slice(lineStart(at)))?.[0] ?? ""
  const startOf = (at: number): number => (tokens[at] as Token).start
  const closing = closingOf(tokens, open)
  const last = tokens[closing - 1] as Token
  const isEmpty = closing - 1 === open
  const hasComma = isPunctuation(last, ",")
  const member = (before: string): string =>
    `${key === undefined ? "" : `${printKey(key, style)}: `}${printLiteral(value, style, layout, before)}`
  const isOwnLine = text.slice(lineStart(startOf(closing)), startOf(closing)).trim() === ""
  if (!isOwnLine && !isEmpty) {
    // `{ a: 1 }` stays on its line.
    const printed = member(indentAt(last.start))
    return `${text.slice(0, last.end)}${hasComma ? ` ${printed},` : `, ${printed}`}${text.slice(last.end)}`
  }
  const at = isOwnLine ? lineStart(startOf(closing)) : startOf(closing)
  const outer = indentAt(startOf(open))
  const inner = isEmpty ? outer + indent : indentAt(startOf(open + 1))
  const comma = style === "js" || hasComma ? "," : ""
  const added = `${inner}${member(inner)}${comma}${newline}`
  const before = text.slice(0, last.end) + (isEmpty || hasComma ? "" : ",")
  const between = text.slice(last.end, at)
  // `{}` is spread over several lines.
  const isInline = text.slice(lineStart(at), at).trim() !== ""
  if (!isInline) return `${before}${between}${added}${text.slice(at)}`
  return `${before}${between.trimEnd()}${newline}${added}${outer}${text.slice(at)}`
}
