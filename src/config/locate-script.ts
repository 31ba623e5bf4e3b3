// Finds a key of an object literal in TypeScript by its tokens, without a parser.

import { type Locate, placeAt } from "../internal/located.ts"
import { isPunctuation, nameIn, type Token, tokensOf } from "./script-tokens.ts"

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

/**
 * Finds the place of keys in a script: the exact path if it is written out, else a name that occurs once,
 * else the longest part of the path that exists. `undefined` when nothing matches.
 */
export function locateInScript(text: string): Locate {
  let positions: readonly KeyPosition[] | undefined
  return (keys) => {
    positions ??= scan(text)
    const at = findPosition(positions, keys)
    return at === undefined ? undefined : placeAt(text, at)
  }
}

function findPosition(
  positions: readonly KeyPosition[],
  keys: readonly string[],
): number | undefined {
  const exact = positions.find((one) => isSame(one.keys, keys))
  if (exact !== undefined) return exact.at
  // Parts of a configuration are often constants of their own.
  const last = keys.at(-1)
  const named = /^\d*$/.test(last ?? "") ? [] : positions.filter((one) => one.keys.at(-1) === last)
  if (named.length === 1) return named[0]?.at
  const above = keys.slice(0, -1)
  return above.length === 0 ? undefined : findPosition(positions, above)
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((key, at) => key === right[at])
}

function scan(text: string): readonly KeyPosition[] {
  const positions: KeyPosition[] = []
  const frames: Frame[] = []
  const { tokens } = tokensOf(text)
  for (const [at, token] of tokens.entries()) {
    readToken(token, tokens[at - 1], tokens[at + 1], frames, positions)
  }
  return positions
}

/** Processes one token. */
function readToken(
  token: Token,
  before: Token | undefined,
  next: Token | undefined,
  frames: Frame[],
  positions: KeyPosition[],
): void {
  const top = frames.at(-1)
  if (top?.bracket === "[" && top.at === -1 && !isPunctuation(token, "]")) {
    top.at = token.start
    positions.push({ keys: keysOf(frames), at: token.start })
  }
  if (isPunctuation(token, "{[(")) {
    frames.push({
      bracket: token.source,
      key: token.source === "[" ? "0" : undefined,
      at: -1,
    })
  } else if (isPunctuation(token, "}])")) {
    frames.pop()
  } else if (isPunctuation(token, ",") && top !== undefined) {
    if (top.bracket === "[") Object.assign(top, { key: String(Number(top.key) + 1), at: -1 })
    else top.key = undefined
  } else if (
    top?.bracket === "{" &&
    isPunctuation(before, "{,") &&
    isPunctuation(next, ":,}(") &&
    nameIn(token) !== undefined
  ) {
    top.key = nameIn(token)
    positions.push({ keys: keysOf(frames), at: token.start })
  }
}

/** The keys from the outermost literal on; a call such as `defineConfig(` starts a new path. */
function keysOf(frames: readonly Frame[]): readonly string[] {
  const start = frames.findLastIndex((frame) => frame.bracket === "(" || frame.key === undefined)
  return frames.slice(start + 1).map((frame) => frame.key ?? "")
}
