/** A token of JSON or JavaScript, without comments and white space. */
export interface Token {
  readonly kind: "mark" | "word" | "text"
  /** Source text. */
  readonly source: string
  readonly start: number
  readonly end: number
  /** Number of open brackets around it; a bracket is outside of its own pair. */
  readonly depth: number
}

/**
 * Splits JSON, JSON with comments, or JavaScript into tokens; `undefined` when brackets do not match.
 *
 * It recognises what finding a place for a member needs: strings, comments and brackets. It does not
 * recognise regular expressions, so callers verify the result of an edit.
 */
export function tokensOf(text: string): readonly Token[] | undefined {
  const tokens: Token[] = []
  const open: string[] = []
  for (let at = 0; at < text.length;) {
    const end = endOfTrivia(text, at)
    if (end > at) {
      at = end
      continue
    }
    const token = tokenAt(text, at)
    if (token === undefined) return undefined
    if (isClosing(token.source) && open.pop() !== token.source) return undefined
    tokens.push({ ...token, start: at, depth: open.length })
    const closing = CLOSING[token.source]
    if (token.kind === "mark" && closing !== undefined) open.push(closing)
    at = token.end
  }
  return open.length === 0 ? tokens : undefined
}

/** The index of the matching closing bracket. */
export function closingOf(tokens: readonly Token[], at: number): number {
  const { depth } = tokens[at] as Token
  return tokens.findIndex(
    (one, index) => index > at && one.depth === depth && isPunctuation(one, "}])"),
  )
}

/** Whether a token is one of these punctuation characters. */
export function isPunctuation(token: Token | undefined, marks: string): boolean {
  return token?.kind === "mark" && marks.includes(token.source)
}

/** The name of a key token: a word or a string. */
export function nameIn({ kind, source }: Token): string | undefined {
  if (kind === "word") return source
  return kind === "text" ? source.slice(1, -1) : undefined
}

const CLOSING: Readonly<Partial<Record<string, string>>> = { "{": "}", "[": "]", "(": ")" }

function isClosing(source: string): boolean {
  return source === "}" || source === "]" || source === ")"
}

/** The end of white space and one comment. */
function endOfTrivia(text: string, at: number): number {
  const found = /\s+|\/\/[^\n]*|\/\*[^]*?\*\//y
  found.lastIndex = at
  return at + (found.exec(text)?.[0].length ?? 0)
}

function tokenAt(text: string, at: number): Omit<Token, "start" | "depth"> | undefined {
  const char = text.charAt(at)
  if (char === "`") return textToken(text, at, endOfTemplate(text, at + 1))
  if (char === `"` || char === "'") return textToken(text, at, endOfText(text, at))
  const found = /[\p{ID_Continue}$]+/uy
  found.lastIndex = at
  const word = found.exec(text)?.[0]
  if (word === undefined) return { kind: "mark", source: char, end: at + 1 }
  return { kind: "word", source: word, end: at + word.length }
}

function textToken(
  text: string,
  at: number,
  end: number | undefined,
): Omit<Token, "start" | "depth"> | undefined {
  return end === undefined ? undefined : { kind: "text", source: text.slice(at, end), end }
}

function endOfText(text: string, at: number): number | undefined {
  const quote = text.charAt(at)
  for (let index = at + 1; index < text.length; index++) {
    const char = text.charAt(index)
    if (char === quote) return index + 1
    if (char === "\n") return undefined
    if (char === "\\") index++
  }
  return undefined
}

function endOfTemplate(text: string, from: number): number | undefined {
  for (let index = from; index < text.length; index++) {
    const char = text.charAt(index)
    if (char === "`") return index + 1
    if (char === "\\") index++
    if (char !== "$" || text.charAt(index + 1) !== "{") continue
    const end = endOfInsertion(text, index + 2)
    if (end === undefined) return undefined
    index = end - 1
  }
  return undefined
}

/** The end of `${…}` in a template, which may contain templates. */
function endOfInsertion(text: string, from: number): number | undefined {
  let open = 1
  for (let at = from; at < text.length;) {
    const trivia = endOfTrivia(text, at)
    if (trivia > at) {
      at = trivia
      continue
    }
    const token = tokenAt(text, at)
    if (token === undefined) return undefined
    at = token.end
    if (token.source === "{") open++
    if (token.source === "}" && --open === 0) return at
  }
  return undefined
}
