/** A piece of JSON or JavaScript that is no comment and no white space. */
export interface Token {
  readonly kind: "mark" | "word" | "text"
  /** As it stands there. */
  readonly source: string
  readonly start: number
  readonly end: number
  /** How many brackets are open around it; those of a pair count as outside. */
  readonly depth: number
}

/**
 * Cuts JSON, JSON with comments, or JavaScript into tokens; `undefined` when its brackets do not match.
 *
 * It knows as much as finding a place for one more member needs: texts, comments and brackets. Regular
 * expressions it does not know, so whoever edits by it looks at the outcome.
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

/** The index of the bracket that closes the one at an index. */
export function closingOf(tokens: readonly Token[], at: number): number {
  const { depth } = tokens[at] as Token
  return tokens.findIndex(
    (one, index) => index > at && one.depth === depth && isPunctuation(one, "}])"),
  )
}

/** Whether a token is one of some marks. */
export function isPunctuation(token: Token | undefined, marks: string): boolean {
  return token?.kind === "mark" && marks.includes(token.source)
}

/** The name that a token is, as a key: a word or a quoted text. */
export function nameIn({ kind, source }: Token): string | undefined {
  if (kind === "word") return source
  return kind === "text" ? source.slice(1, -1) : undefined
}

const CLOSING: Readonly<Partial<Record<string, string>>> = { "{": "}", "[": "]", "(": ")" }

function isClosing(source: string): boolean {
  return source === "}" || source === "]" || source === ")"
}

/** Where white space and one comment end. */
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

/** Where `${…}` of a template ends; it may hold templates again. */
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
