import type { Program } from "./program.ts"
import { type CharSet, contains, usesProperty, WORD } from "./char-set.ts"

/** Maximum number of cached states; the cache is cleared when it is full. */
const MAX_STATES = 1_000

/** Number of new states in one text after which states are no longer cached. */
const MAX_NEW = 500

const NOTHING = new Uint8Array(0)

/** A set of instructions to continue from, and its context in the text. */
interface State {
  readonly from: Int32Array
  readonly isStart: boolean
  readonly afterWord: boolean
  /** By class of the next character. */
  readonly next: Array<State | boolean | undefined>
  atEnd?: boolean
}

// Numbers instead of names: a text may be held against every instruction at every character.
const CHARS = 0
const SPLIT = 1
const JUMP = 2
const MATCH = 3
const START = 4
const END = 5
const BOUNDARY = 6
const NO_BOUNDARY = 7
const ASSERTIONS: Readonly<Record<string, number>> = {
  "^": START,
  $: END,
  "\\b": BOUNDARY,
  "\\B": NO_BOUNDARY,
}

/**
 * Matches a pattern without look-around in time linear in the text, whatever the pattern.
 *
 * All ways through the pattern are followed at once. Sets of places that were seen before are remembered with where
 * each class of characters leads, so that most characters cost one lookup.
 */
export class LinearMatcher {
  readonly #ops: Uint8Array
  /** Where a split or a jump leads; for characters, which of the sets. */
  readonly #left: Int32Array
  readonly #right: Int32Array
  readonly #alphabet = new Alphabet()
  readonly #visited: Uint32Array
  readonly #stack: Int32Array
  readonly #collected: Int32Array
  readonly #states = new Map<string, State>()
  #generation = 0
  /** Instructions looked at so far: at most all of them for each character and for the end of the text. */
  steps = 0

  constructor({ instructions }: Program) {
    const size = instructions.length
    this.#ops = new Uint8Array(size)
    this.#left = new Int32Array(size)
    this.#right = new Int32Array(size)
    this.#visited = new Uint32Array(size)
    this.#stack = new Int32Array(size * 3 + 1)
    this.#collected = new Int32Array(size)
    instructions.forEach((instruction, at) => {
      switch (instruction.op) {
        case "chars":
          this.#ops[at] = CHARS
          this.#left[at] = this.#alphabet.add(instruction.set, instruction.text)
          break
        case "split":
          this.#ops[at] = SPLIT
          this.#left[at] = instruction.left
          this.#right[at] = instruction.right
          break
        case "jump":
          this.#ops[at] = JUMP
          this.#left[at] = instruction.to
          break
        case "assert":
          this.#ops[at] = ASSERTIONS[instruction.text] as number
          break
        case "match":
          this.#ops[at] = MATCH
          break
        case "look":
          throw new TypeError("An automaton cannot look around.")
      }
    })
  }

  /** Whether the text matches; `undefined` if that takes more than `maxSteps` steps. */
  test(text: string, maxSteps: number = Infinity): boolean | undefined {
    const most = this.steps + maxSteps
    let state = this.#state(0, true, false)
    let fresh = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.codePointAt(at) as number
      if (code > 0xffff) at++
      const kind = this.#alphabet.classOf(code)
      let next = state.next[kind]
      if (next === undefined) {
        const remember = ++fresh <= MAX_NEW
        next = this.#step(state, kind, remember)
        if (remember) state.next[kind] = next
        if (this.steps > most) return undefined
      }
      if (typeof next === "boolean") return next
      state = next
    }
    return (state.atEnd ??= this.#step(state, -1, false) === true)
  }

  /** Where a state leads: another one, or `true` when the pattern has matched. At the end of the text `kind` is -1. */
  #step(state: State, kind: number, remember: boolean): State | boolean {
    const stack = this.#stack
    const visited = this.#visited
    const ops = this.#ops
    const left = this.#left
    const right = this.#right
    const next = this.#collected
    const memberships = kind < 0 ? NOTHING : this.#alphabet.setsOf(kind)
    if (this.#generation === 0xffff_ffff) {
      visited.fill(0)
      this.#generation = 0
    }
    const generation = ++this.#generation
    const beforeWord = kind >= 0 && this.#alphabet.isWord(kind)
    const isBoundary = state.afterWord !== beforeWord
    let count = 0
    let steps = 0
    // Matching can begin anywhere; `^` sorts the beginnings out.
    let depth = 1
    stack[0] = 0
    for (const from of state.from) stack[depth++] = from
    while (depth > 0) {
      const at = stack[--depth] as number
      if (visited[at] === generation) continue
      visited[at] = generation
      steps++
      let goesOn = false
      switch (ops[at] as number) {
        case CHARS:
          if (memberships[left[at] as number] === 1) next[count++] = at + 1
          break
        case SPLIT:
          stack[depth++] = right[at] as number
          stack[depth++] = left[at] as number
          break
        case JUMP:
          stack[depth++] = left[at] as number
          break
        case MATCH:
          this.steps += steps
          return true
        case START:
          goesOn = state.isStart
          break
        case END:
          goesOn = kind < 0
          break
        case BOUNDARY:
          goesOn = isBoundary
          break
        case NO_BOUNDARY:
          goesOn = !isBoundary
      }
      if (goesOn) stack[depth++] = at + 1
    }
    this.steps += steps
    if (kind < 0) return false
    if (remember) return this.#state(count, false, beforeWord)
    return { from: next.slice(0, count), isStart: false, afterWord: beforeWord, next: [] }
  }

  /** The state that continues from the collected instructions. */
  #state(count: number, isStart: boolean, afterWord: boolean): State {
    const from = this.#collected.slice(0, count).sort()
    const key = `${isStart ? 1 : 0}${afterWord ? 1 : 0}${from.join()}`
    let state = this.#states.get(key)
    if (state === undefined) {
      if (this.#states.size >= MAX_STATES) this.#states.clear()
      state = { from, isStart, afterWord, next: [] }
      this.#states.set(key, state)
    }
    return state
  }
}

/** Code points whose class is remembered, where finding it takes a regular expression. */
const MAX_REMEMBERED = 10_000

/**
 * The characters of one pattern, in classes: every set contains either all characters of a class or none.
 *
 * Sets that are written with `\p{…}` have hundreds of ranges, so the native engine is asked about each character.
 */
class Alphabet {
  readonly #sets: CharSet[] = []
  readonly #indexes = new Map<CharSet, number>()
  readonly #properties: Array<{ readonly index: number; readonly regexp: RegExp }> = []
  /** First code points of ranges that no set without `\p{…}` cuts. */
  #starts: readonly number[] | undefined
  readonly #ascii = new Int32Array(128).fill(-1)
  readonly #remembered = new Map<number, number>()
  readonly #classes = new Map<string, number>()
  readonly #rows: Uint8Array[] = []
  readonly #isWord: boolean[] = []

  /** Adds a set, before any character is classified; returns its index. */
  add(set: CharSet, text: string): number {
    let index = this.#indexes.get(set)
    if (index !== undefined) return index
    index = this.#sets.push(set) - 1
    this.#indexes.set(set, index)
    if (usesProperty(text)) this.#properties.push({ index, regexp: new RegExp(text, "u") })
    return index
  }

  /** The class of a code point. */
  classOf(code: number): number {
    if (code < 128) {
      const cached = this.#ascii[code] as number
      return cached >= 0 ? cached : (this.#ascii[code] = this.#find(code))
    }
    const cached = this.#remembered.get(code)
    if (cached !== undefined) return cached
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear()
    const classIndex = this.#find(code)
    this.#remembered.set(code, classIndex)
    return classIndex
  }

  /** For each set, 1 when the class is in it. */
  setsOf(kind: number): Uint8Array {
    return this.#rows[kind] as Uint8Array
  }

  isWord(kind: number): boolean {
    return this.#isWord[kind] as boolean
  }

  #find(code: number): number {
    const text = String.fromCodePoint(code)
    const matching = this.#properties.filter(({ regexp }) => regexp.test(text))
    const key = `${this.#rangeOf(code)} ${matching.map(({ index }) => index).join()}`
    const cached = this.#classes.get(key)
    if (cached !== undefined) return cached
    const row = Uint8Array.from(this.#sets, (set) => (contains(set, code) ? 1 : 0))
    for (const { index } of this.#properties) row[index] = 0
    for (const { index } of matching) row[index] = 1
    this.#isWord.push(contains(WORD, code))
    const kind = this.#rows.push(row) - 1
    this.#classes.set(key, kind)
    return kind
  }

  /** The range of a code point: the last that starts at or before it. */
  #rangeOf(code: number): number {
    const starts = (this.#starts ??= this.#cut())
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] as number) <= code) low = middle
      else high = middle - 1
    }
    return low
  }

  #cut(): readonly number[] {
    const approximate = new Set(this.#properties.map(({ index }) => index))
    const starts = new Set([0])
    for (const set of [...this.#sets.filter((_, index) => !approximate.has(index)), WORD]) {
      for (const [from, to] of set) starts.add(from).add(to + 1)
    }
    return [...starts].toSorted((a, b) => a - b)
  }
}
