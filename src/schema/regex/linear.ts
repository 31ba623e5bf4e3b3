// The proof that backtracking stays cheap, which needs all of its parts in one place.
import { addToList } from "../../internal/lists.ts"
import { type CharSet, overlaps } from "./char-set.ts"
import type { Program } from "./program.ts"

/** What one attempt of a backtracking engine costs, from one place in the text. */
export interface AttemptCost {
  /** Whether the attempt may read the whole text. `steps` is then per character, otherwise for all of it. */
  readonly readsOn: boolean
  readonly steps: number
  /** Whether only an attempt from the beginning of the text can succeed. */
  readonly anchored: boolean
}

/** Steps to the end of the pattern that count as few. */
const MAX_FEW_STEPS = 64

/** Steps that each character may cost where an attempt reads on. */
const MAX_PER_CHARACTER = 256

/** Steps of an attempt that reads a bounded number of characters. */
const MAX_ATTEMPT = 10_000

/** Work of the proof itself. */
const MAX_WORK = 100_000

/**
 * Proves what matching a pattern costs a backtracking engine; `undefined` where there is no proof.
 *
 * After each character the engine can go on in several places. The proof holds when at most one of those
 * that accept the same character leads far, and the others end after a few steps or at the next character. Then an
 * attempt takes time linear in the text. Assertions count as true, which can only overestimate the steps.
 */
export function proveLinear(program: Program): AttemptCost | undefined {
  if (program.hasEmptyLoops) return undefined
  for (const few of [MAX_FEW_STEPS, MAX_ATTEMPT]) {
    try {
      return new Proof(program, few).attempt()
    } catch (thrown) {
      if (thrown !== NOT_PROVEN) throw thrown
    }
  }
  return undefined
}

const NOT_PROVEN = new Error("not proven")

/** Where matching can go on without reading a character: once per way to get there. */
interface Follow {
  readonly targets: readonly number[]
  /** Steps that reading no character takes. */
  readonly steps: number
}

class Proof {
  readonly #program: Program
  readonly #few: number
  readonly #follow = new Map<number, Follow>()
  /** Of the positions from which a few steps lead to the end: all others lead far. */
  readonly #cost = new Map<number, number>()
  #work = 0
  #unanchored = false

  constructor(program: Program, few: number) {
    this.#program = program
    this.#few = few
  }

  attempt(): AttemptCost {
    const start = this.#followOf(0, true)
    this.#explore(start)
    this.#costs()
    const anchored = !this.#unanchored
    let steps = this.#stepsAt(start)
    const readsOn = start.targets.some((target) => !this.#cost.has(target))
    if (readsOn) {
      for (const [position, follow] of this.#follow) {
        if (!this.#cost.has(position)) steps = Math.max(steps, this.#stepsAt(follow))
      }
    }
    if (steps > (readsOn ? MAX_PER_CHARACTER : this.#few)) throw NOT_PROVEN
    return { readsOn, steps, anchored }
  }

  #explore(start: Follow): void {
    const queue = [...start.targets]
    for (let position = queue.pop(); position !== undefined; position = queue.pop()) {
      if (this.#follow.has(position)) continue
      const follow = this.#followOf(position + 1, false)
      this.#follow.set(position, follow)
      queue.push(...follow.targets)
    }
  }

  /** All ways from an instruction to the next characters. */
  #followOf(from: number, isStart: boolean): Follow {
    const targets: number[] = []
    let steps = 0
    const stack = [{ at: from, anchored: false }]
    for (let way = stack.pop(); way !== undefined; way = stack.pop()) {
      this.#spend(1)
      steps++
      const { at, anchored } = way
      const instruction = this.#program.instructions[at]
      if (instruction === undefined) throw NOT_PROVEN
      switch (instruction.op) {
        case "chars":
          targets.push(at)
          if (isStart && !anchored) this.#unanchored = true
          break
        case "match":
          if (isStart && !anchored) this.#unanchored = true
          break
        case "jump":
          stack.push({ at: instruction.to, anchored })
          break
        case "split":
          stack.push({ at: instruction.right, anchored }, { at: instruction.left, anchored })
          break
        case "assert":
          stack.push({ at: at + 1, anchored: anchored || instruction.text === "^" })
          break
        case "look": {
          const cost = proveLinear(instruction.body)
          if (cost === undefined) throw NOT_PROVEN
          // One that reads on is run once, at the beginning, or else once per character.
          if (!cost.readsOn) steps += cost.steps
          else if (!isStart || !anchored || !instruction.ahead) throw NOT_PROVEN
          stack.push({ at: at + 1, anchored })
        }
      }
    }
    return { targets, steps }
  }

  /** Costs of the positions that lead to the end in a few steps, from the end of the pattern backwards. */
  #costs(): void {
    const sources = new Map<number, number[]>()
    const open = new Map<number, number>()
    const ready: number[] = []
    for (const [position, { targets }] of this.#follow) {
      open.set(position, targets.length)
      if (targets.length === 0) ready.push(position)
      for (const target of targets) addToList(sources, target, position)
    }
    for (let position = ready.pop(); position !== undefined; position = ready.pop()) {
      const steps = this.#stepsAt(this.#follow.get(position) as Follow)
      if (steps > this.#few) continue
      this.#cost.set(position, steps)
      for (const source of sources.get(position) ?? []) {
        const left = (open.get(source) as number) - 1
        open.set(source, left)
        if (left === 0) ready.push(source)
      }
    }
  }

  /** Steps that going on takes, without the one way that leads far. */
  #stepsAt({ targets, steps }: Follow): number {
    let total = 1 + steps
    const far = targets.filter((target) => !this.#cost.has(target))
    for (let i = 0; i < far.length; i++) {
      for (let j = 0; j < i; j++) total += this.#stepsOfBoth(far[i] as number, far[j] as number)
    }
    return total + this.#worst(targets.filter((target) => this.#cost.has(target)))
  }

  /** Steps until one of two ways that lead far has ended, which must be at the next character. */
  #stepsOfBoth(left: number, right: number): number {
    this.#spend(1)
    if (!overlaps(this.#setOf(left), this.#setOf(right))) return 0
    if (left === right) throw NOT_PROVEN
    const one = this.#follow.get(left) as Follow
    const other = this.#follow.get(right) as Follow
    for (const target of one.targets) {
      for (const rival of other.targets) {
        this.#spend(1)
        if (overlaps(this.#setOf(target), this.#setOf(rival))) throw NOT_PROVEN
      }
    }
    return one.steps + other.steps
  }

  /** The most that one character can lead to: it is accepted by some of the positions, each with its cost. */
  #worst(targets: readonly number[]): number {
    let most = 0
    for (const target of targets) {
      for (const [code] of this.#setOf(target)) {
        let sum = 0
        for (const other of targets) {
          this.#spend(1)
          if (overlaps(this.#setOf(other), [[code, code]])) sum += this.#cost.get(other) as number
        }
        most = Math.max(most, sum)
      }
    }
    return most
  }

  #setOf(position: number): CharSet {
    const instruction = this.#program.instructions[position]
    return instruction?.op === "chars" ? instruction.set : []
  }

  #spend(work: number): void {
    this.#work += work
    if (this.#work > MAX_WORK) throw NOT_PROVEN
  }
}
