/** A token of JSON or JavaScript, without comments and white space. */
export interface Token {
  readonly kind: "mark" | "word" | "text" | "pattern"
  /** Source text. */
  readonly source: string
  readonly start: number
  readonly end: number
  /** Number of open brackets around it; a bracket is outside of its own pair. */
  readonly depth: number
}

const CLOSING: Readonly<Partial<Record<string, string>>> = { "{": "}", "[": "]", "(": ")" }
const TRIVIA = /\s+|\/\/[^\n]*|\/\*[^]*?(\*\/|$)/y
const WORD = /[\p{ID_Continue}$]+/uy
const QUOTED = /(["'])(?:(?!\1)[^\\\n]|\\[^])*(\1)?/y
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y
const PATTERN = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
/** After these tokens a slash begins a regular expression; after anything else it is a division. */
const BEFORE_PATTERN = /^(?:[=(,:[!&|?{};+*%~^<>-]|return|typeof|case)?$/

/**
 * Splits JSON, JSON with comments, JavaScript or TypeScript into tokens.
 *
 * It recognises strings, templates, comments, regular expressions and brackets without a parser, so
 * callers verify the result of an edit. It is not complete when something has no end, or brackets do not match.
 */
export function tokensOf(text: string): {
  readonly tokens: readonly Token[]
  readonly isComplete: boolean
} {
  const lexer = new Lexer(text)
  const tokens: Token[] = []
  const open: (string | undefined)[] = []
  let isComplete = true
  for (let token = lexer.next(); token !== undefined; token = lexer.next()) {
    if (isPunctuation(token, "}])") && open.pop() !== token.source) isComplete = false
    tokens.push({ ...token, depth: open.length })
    if (isPunctuation(token, "{[(")) open.push(CLOSING[token.source])
  }
  return { tokens, isComplete: isComplete && lexer.isComplete && open.length === 0 }
}

/** The index of the matching closing bracket. */
export function closingOf(tokens: readonly Token[], at: number): number {
  const { depth } = tokens[at] as Token
  return tokens.findIndex(
    (one, index) => index > at && one.depth === depth && isPunctuation(one, "}])"),
  )
}

/** Whether a token is one of these punctuation characters. */
export function isPunctuation(
  token: Pick<Token, "kind" | "source"> | undefined,
  marks: string,
): boolean {
  return token?.kind === "mark" && marks.includes(token.source)
}

/** The name of a key token: a word or a string. */
export function nameIn({ kind, source }: Token): string | undefined {
  if (kind === "word") return source
  return kind === "text" ? source.slice(1, -1) : undefined
}

class Lexer {
  /** `false` after a string, a template or a comment without an end. */
  isComplete = true
  readonly #text: string
  #at = 0
  #before = ""

  constructor(text: string) {
    this.#text = text
  }

  next(): Omit<Token, "depth"> | undefined {
    for (let skipped = this.#match(TRIVIA); skipped !== null; skipped = this.#match(TRIVIA)) {
      if (skipped[1] === "") this.isComplete = false
    }
    const start = this.#at
    if (start >= this.#text.length) return undefined
    const kind = this.#read()
    const source = this.#text.slice(start, this.#at)
    this.#before = source
    return { kind, source, start, end: this.#at }
  }

  #read(): Token["kind"] {
    const quoted = this.#match(QUOTED)
    if (quoted !== null) {
      if (quoted[2] === undefined) this.isComplete = false
      return "text"
    }
    if (this.#text.charAt(this.#at) === "`") {
      this.#skipTemplate()
      return "text"
    }
    if (this.#match(WORD) !== null) return "word"
    if (BEFORE_PATTERN.test(this.#before) && this.#match(PATTERN) !== null) return "pattern"
    this.#at++
    return "mark"
  }

  /** Skips a template with its insertions, which may contain templates. */
  #skipTemplate(): void {
    for (this.#at++; ;) {
      this.#match(TEMPLATE_TEXT)
      const mark = this.#text.charAt(this.#at)
      if (mark === "`") return void this.#at++
      this.#at += 2
      this.#before = "{"
      for (let open = 1; open > 0;) {
        const token = mark === "$" ? this.next() : undefined
        if (token === undefined) {
          this.isComplete = false
          return void (this.#at = this.#text.length)
        }
        if (isPunctuation(token, "{")) open++
        if (isPunctuation(token, "}")) open--
      }
    }
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    this.#at += match?.[0].length ?? 0
    return match
  }
}
