/** What a piece of code is; `plain` has no colour of its own. */
export type TokenKind = "plain" | "string" | "number" | "word" | "comment" | "key"

export interface Token {
  readonly kind: TokenKind
  readonly text: string
}

// Longer texts would be thousands of elements for little benefit.
const MAX_LENGTH = 40_000

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"`
const QUOTED = String.raw`${STRING}|'(?:[^'\\]|\\.)*'|` + "`(?:[^`\\\\]|\\\\.)*`"
const NUMBER = String.raw`\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b`
const WORDS =
  "import|from|export|const|let|await|async|for|of|in|if|else|return|new|function|type|interface|try|catch|throw|as"

const RULES: Readonly<Record<string, RegExp>> = {
  json: new RegExp(
    String.raw`(?<key>${STRING}(?=\s*:))|(?<string>${STRING})|(?<number>-?${NUMBER})|(?<word>\b(?:true|false|null)\b)`,
    "g",
  ),
  ts: new RegExp(
    String.raw`(?<comment>\/\/[^\n]*)|(?<string>${QUOTED})|(?<number>${NUMBER})|(?<word>\b(?:${WORDS}|true|false|null|undefined)\b)`,
    "g",
  ),
  sh: new RegExp(
    String.raw`(?<comment>(?<=^|\s)#[^\n]*)|(?<string>${STRING}|'[^']*')|(?<word>(?<=^|\n|\|\s*)(?:curl|npx|npm|operations|export)\b)|(?<key>(?<=\s)--?[A-Za-z][\w-]*)`,
    "g",
  ),
}

const ALIASES: Readonly<Record<string, string>> = {
  typescript: "ts",
  javascript: "ts",
  js: "ts",
  bash: "sh",
  shell: "sh",
}

/** Code in pieces that are shown in their colours; one piece where the language is not known. */
export function highlight(code: string, language: string | undefined): readonly Token[] {
  const name = language?.toLowerCase() ?? ""
  const key = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? "") : name
  const rule = Object.hasOwn(RULES, key) ? RULES[key] : undefined
  if (rule === undefined || code.length > MAX_LENGTH) return [{ kind: "plain", text: code }]
  const tokens: Token[] = []
  let end = 0
  for (const match of code.matchAll(rule)) {
    if (match.index > end) tokens.push({ kind: "plain", text: code.slice(end, match.index) })
    tokens.push({ kind: kindOf(match.groups), text: match[0] })
    end = match.index + match[0].length
  }
  if (end < code.length) tokens.push({ kind: "plain", text: code.slice(end) })
  return tokens
}

function kindOf(groups: Readonly<Record<string, string | undefined>> | undefined): TokenKind {
  for (const [kind, text] of Object.entries(groups ?? {})) {
    if (text !== undefined) return kind as TokenKind
  }
  return "plain"
}
