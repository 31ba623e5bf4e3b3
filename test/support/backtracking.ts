import { contains } from "../../src/schema/regex/char-set.ts"
import type { RegexNode } from "../../src/schema/regex/parse.ts"

/**
 * Steps that a backtracking engine takes to find that a pattern matches a text or does not; more than `most` is `most`.
 *
 * For patterns without look-around, back-references and `\p{…}`.
 */
export function backtrackingSteps(root: RegexNode, text: string, most: number): number {
  let steps = 0
  const codes = [...text].map((char) => char.codePointAt(0) as number)

  /** Every end of a match that starts at a place, in the order in which they are tried. */
  function* ends(node: RegexNode, at: number): Generator<number> {
    if (++steps >= most) throw TOO_MANY
    switch (node.kind) {
      case "chars":
        if (at < codes.length && contains(node.set, codes[at] as number)) yield at + 1
        return
      case "assertion":
        if (node.text === "^" ? at === 0 : node.text !== "$" || at === codes.length) yield at
        return
      case "group":
        yield* ends(node.body, at)
        return
      case "sequence":
        yield* sequence(node.parts, 0, at)
        return
      case "choice":
        for (const option of node.options) yield* ends(option, at)
        return
      case "repeat":
        yield* repeat(node, 0, at)
        return
      default:
        throw new TypeError(`Not for a ${node.kind}.`)
    }
  }

  function* sequence(parts: readonly RegexNode[], index: number, at: number): Generator<number> {
    const part = parts[index]
    if (part === undefined) yield at
    else for (const end of ends(part, at)) yield* sequence(parts, index + 1, end)
  }

  function* repeat(
    node: RegexNode & { kind: "repeat" },
    count: number,
    at: number,
  ): Generator<number> {
    if (count < node.max) {
      for (const end of ends(node.body, at)) {
        if (end === at && count >= node.min) continue
        yield* repeat(node, count + 1, end)
      }
    }
    if (count >= node.min) yield at
  }

  try {
    for (let start = 0; start <= codes.length; start++) {
      for (const _ of ends(root, start)) return steps
    }
  } catch (thrown) {
    // A pattern that nests too deeply for this function is no cheap one either.
    if (thrown === TOO_MANY || thrown instanceof RangeError) return most
    throw thrown
  }
  return steps
}

const TOO_MANY = new Error("too many steps")
