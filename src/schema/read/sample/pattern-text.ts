// Texts for the patterns that schemas really have: `^[a-z]{2,5}-\d+$`. What is beyond that is left.

import { type CharSet, contains } from "../../regex/char-set.ts"
import { parseRegex, type RegexNode } from "../../regex/parse.ts"

const WORDS = ["a", "A", "1", "abc123", "example-1", "1.0.0", "/example", "main", "#000000"]
/** Characters of which the first that fits is written. */
const CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890-_ "
// A malicious pattern is slow on long texts, but not on short ones.
const MAX_TESTED = 24
const MAX_TEXT = 200

/** A text that a pattern accepts; `undefined` when none is found. */
export function textLike(pattern: string, least = 0, most: number = MAX_TEXT): string | undefined {
  let expression: RegExp
  const made: string[] = []
  try {
    expression = new RegExp(pattern, "u")
    const node = parseRegex(pattern)
    made.push(written(node, 1), written(node, Math.min(Math.max(1, least), MAX_TEXT)))
  } catch {
    return undefined
  }
  return ["example", ...made, ...WORDS].find(
    (text) =>
      text.length >= least &&
      text.length <= Math.min(most, MAX_TEXT, MAX_TESTED + least) &&
      expression.test(text),
  )
}

/** The first thing that each part allows; what may be there any number of times is written `repeat` times. */
function written(node: RegexNode, repeat: number): string {
  switch (node.kind) {
    case "chars":
      return characterOf(node.set)
    case "sequence":
      return cut(node.parts.map((part) => written(part, repeat)).join(""))
    case "choice":
      return node.options.map((option) => written(option, repeat)).find((text) => text !== "") ?? ""
    case "group":
      return written(node.body, repeat)
    case "repeat": {
      const { min, max } = node
      const times = max === Infinity ? Math.max(min, repeat) : Math.min(Math.max(min, 1), max)
      return cut(written(node.body, repeat).repeat(Math.min(times, MAX_TEXT + 1)))
    }
    case "assertion":
    case "backreference":
    case "look":
      return ""
  }
}

/** One character more than a text may have shows that there are more. */
function cut(text: string): string {
  return text.slice(0, MAX_TEXT + 1)
}

function characterOf(set: CharSet): string {
  const usual = Array.from(CHARACTERS).find((one) => contains(set, one.codePointAt(0) ?? 0))
  return usual ?? String.fromCodePoint(set[0]?.[0] ?? 0x61)
}
