// Finds a key of an object literal in TypeScript with a tokenizer instead of a parser.

import { type Locate, placeAt } from "../internal/located.ts"

/** An open bracket. */
interface Frame {
  readonly bracket: string
  /** In braces, the key whose value is being read; in brackets, the number of the item. */
  key: string | undefined
  /** The offset at which an item or a key begins. */
  at: number
}

/** A key or an item, and the keys that lead to it from its outermost object. */
interface KeyPosition {
  readonly keys: readonly string[]
  readonly at: number
}

const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?|[\p{L}\p{N}_$]+|[{}[\](),:`]|\S/gu
const WORD = /^[\p{L}\p{N}_$"']/u
/** After these tokens a slash begins a regular expression; after anything else it is a division. */
const BEFORE_PATTERN = /^(?:[=(,:[!&|?{};+*%~^<>-]|return|typeof|case)$/
const PATTERN = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y

/**
 * Finds the place of keys in a script: the exact path if it is written out, else a name that occurs once,
 * else the longest part of the path that exists. `undefined` when nothing matches.
 */
export function locateInScript(text: string): Locate {
  let found: readonly KeyPosition[] | undefined
  return (keys) => {
    found ??= scan(text)
    const at = findPosition(found, keys)
    return at === undefined ? undefined : placeAt(text, at)
  }
}

function findPosition(found: readonly KeyPosition[], keys: readonly string[]): number | undefined {
  const exact = found.find((one) => isSame(one.keys, keys))
  if (exact !== undefined) return exact.at
  // Parts of a configuration are often constants of their own.
  const last = keys.at(-1)
  const named = /^\d*$/.test(last ?? "") ? [] : found.filter((one) => one.keys.at(-1) === last)
  if (named.length === 1) return named[0]?.at
  const above = keys.slice(0, -1)
  return above.length === 0 ? undefined : findPosition(found, above)
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((key, at) => key === right[at])
}

function scan(text: string): readonly KeyPosition[] {
  const found: KeyPosition[] = []
  const frames: Frame[] = []
  let before = ""
  let at = 0
  for (
    let token = tokenAt(text, at, before);
    token !== undefined;
    token = tokenAt(text, at, before)
  ) {
    at = token.at + token.text.length
    if (token.text === "`") at = endOfTemplate(text, at)
    if (/^\/[/*]/.test(token.text)) continue
    readToken(token.text, token.at, before, nextAfter(text, at), frames, found)
    before = token.text
  }
  return found
}

/** Processes one token. */
function readToken(
  token: string,
  at: number,
  before: string,
  next: string,
  frames: Frame[],
  found: KeyPosition[],
): void {
  const top = frames.at(-1)
  const isFirst = before === "{" || before === ","
  if (top?.bracket === "[" && top.at === -1 && token !== "]") {
    top.at = at
    found.push({ keys: keysOf(frames), at })
  }
  if (token === "{" || token === "[" || token === "(") {
    frames.push({ bracket: token, key: token === "[" ? "0" : undefined, at: -1 })
  } else if (token === "}" || token === "]" || token === ")") {
    frames.pop()
  } else if (token === "," && top !== undefined) {
    if (top.bracket === "[") Object.assign(top, { key: String(Number(top.key) + 1), at: -1 })
    else top.key = undefined
  } else if (top?.bracket === "{" && isFirst && WORD.test(token) && /^[:,}(]$/.test(next)) {
    top.key = /^["']/.test(token) ? token.slice(1, -1) : token
    found.push({ keys: keysOf(frames), at })
  }
}

/** The keys from the outermost literal on; a call such as `defineConfig(` starts a new path. */
function keysOf(frames: readonly Frame[]): readonly string[] {
  const start = frames.findLastIndex((frame) => frame.bracket === "(" || frame.key === undefined)
  return frames.slice(start + 1).map((frame) => frame.key ?? "")
}

function tokenAt(
  text: string,
  from: number,
  before: string,
): { readonly text: string; readonly at: number } | undefined {
  TOKEN.lastIndex = from
  const match = TOKEN.exec(text)
  if (match === null) return undefined
  if (match[0] === "/" && (before === "" || BEFORE_PATTERN.test(before))) {
    PATTERN.lastIndex = match.index
    const pattern = PATTERN.exec(text)
    if (pattern !== null) return { text: pattern[0], at: match.index }
  }
  return { text: match[0], at: match.index }
}

/** The next token that is not a comment. */
function nextAfter(text: string, from: number): string {
  let at = from
  for (;;) {
    TOKEN.lastIndex = at
    const match = TOKEN.exec(text)
    if (match === null) return ""
    if (!/^\/[/*]/.test(match[0])) return match[0]
    at = match.index + match[0].length
  }
}

/** The offset after the backtick that ends a template; skips nested templates. */
function endOfTemplate(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === "\\") at++
    else if (depth === 0 && character === "`") return at + 1
    else if (depth === 0 && text.startsWith("${", at)) {
      depth = 1
      at++
    } else if (depth > 0 && character === "`") at = endOfTemplate(text, at + 1) - 1
    else if (depth > 0 && character === "{") depth++
    else if (depth > 0 && character === "}") depth--
  }
  return text.length
}
