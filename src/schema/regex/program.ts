import type { CharSet } from "./char-set.ts"
import type { RegexNode } from "./parse.ts"

/** One step of a compiled pattern. The next instruction follows unless noted otherwise. */
export type Instruction =
  | { readonly op: "chars"; readonly set: CharSet; readonly text: string }
  | { readonly op: "split"; left: number; right: number }
  | { readonly op: "jump"; to: number }
  | { readonly op: "assert"; readonly text: string }
  | { readonly op: "look"; readonly ahead: boolean; readonly body: Program }
  | { readonly op: "match" }

/** A pattern as a nondeterministic automaton, with counted repetitions written out. */
export interface Program {
  readonly instructions: readonly Instruction[]
  /** Contains a look-around, which only a backtracking engine can run. */
  readonly hasLooks: boolean
  /** Contains a loop whose body can match the empty text. */
  readonly hasEmptyLoops: boolean
}

/** Instructions of the longest program; `^.{1,4096}$` needs about 8,000. */
const MAX_INSTRUCTIONS = 20_000

/** The program of a pattern; `undefined` for back-references, flags inside the pattern, and patterns that are too large. */
export function compileRegex(root: RegexNode): Program | undefined {
  try {
    return new Compiler(false).compile(root)
  } catch (thrown) {
    if (thrown === UNSUPPORTED) return undefined
    throw thrown
  }
}

/** Whether a node can match the empty text. */
function isNullable(node: RegexNode): boolean {
  switch (node.kind) {
    case "chars":
      return false
    case "assertion":
    case "look":
    case "backreference":
      return true
    case "group":
      return isNullable(node.body)
    case "sequence":
      return node.parts.every(isNullable)
    case "choice":
      return node.options.some(isNullable)
    case "repeat":
      return node.min === 0 || isNullable(node.body)
  }
}

const UNSUPPORTED = new Error("unsupported")

class Compiler {
  readonly #instructions: Instruction[] = []
  /** Look-behind reads its text from right to left. */
  readonly #backward: boolean
  #hasLooks = false
  #hasEmptyLoops = false
  #parts = 0

  constructor(backward: boolean) {
    this.#backward = backward
  }

  compile(root: RegexNode): Program {
    this.#add(root)
    this.#push({ op: "match" })
    return {
      instructions: this.#instructions,
      hasLooks: this.#hasLooks,
      hasEmptyLoops: this.#hasEmptyLoops,
    }
  }

  #add(node: RegexNode): void {
    // Counted apart from the instructions: `(?:){1000000000}` has none.
    if (++this.#parts > MAX_INSTRUCTIONS) throw UNSUPPORTED
    switch (node.kind) {
      case "chars":
        this.#push({ op: "chars", set: node.set, text: node.text })
        return
      case "assertion":
        this.#push({ op: "assert", text: node.text })
        return
      case "backreference":
        throw UNSUPPORTED
      case "look": {
        this.#hasLooks = true
        const ahead = !node.open.startsWith("(?<")
        const body = new Compiler(!ahead).compile(node.body)
        this.#hasEmptyLoops ||= body.hasEmptyLoops
        this.#push({ op: "look", ahead, body })
        return
      }
      case "group":
        // `(?i:…)` changes what its characters match.
        if (/^\(\?[a-z-]+:$/.test(node.open)) throw UNSUPPORTED
        this.#add(node.body)
        return
      case "sequence":
        for (const part of this.#backward ? node.parts.toReversed() : node.parts) this.#add(part)
        return
      case "choice":
        this.#choice(node.options)
        return
      case "repeat":
        this.#repeat(node.body, node.min, node.max)
    }
  }

  #choice(options: readonly RegexNode[]): void {
    const ends: Array<{ op: "jump"; to: number }> = []
    options.forEach((option, index) => {
      if (index === options.length - 1) return this.#add(option)
      const split = this.#split()
      this.#add(option)
      const end = { op: "jump" as const, to: 0 }
      ends.push(end)
      this.#push(end)
      split.right = this.#instructions.length
    })
    for (const end of ends) end.to = this.#instructions.length
  }

  #repeat(body: RegexNode, min: number, max: number): void {
    for (let count = 0; count < min; count++) this.#add(body)
    if (max === Infinity) {
      this.#hasEmptyLoops ||= isNullable(body)
      const start = this.#instructions.length
      const split = this.#split()
      this.#add(body)
      this.#push({ op: "jump", to: start })
      split.right = this.#instructions.length
      return
    }
    const splits: Array<{ right: number }> = []
    for (let count = min; count < max; count++) {
      splits.push(this.#split())
      this.#add(body)
    }
    for (const split of splits) split.right = this.#instructions.length
  }

  #split(): { right: number } {
    const split = { op: "split" as const, left: this.#instructions.length + 1, right: 0 }
    this.#push(split)
    return split
  }

  #push(instruction: Instruction): void {
    if (this.#instructions.push(instruction) > MAX_INSTRUCTIONS) throw UNSUPPORTED
  }
}
