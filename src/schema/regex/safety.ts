import { addToList } from "../../internal/lists.ts"
import { ANYTHING, type CharSet, overlaps } from "./char-set.ts"
import type { RegexNode } from "./parse.ts"

/** Steps after which a pattern counts as too complicated; ordinary ones need a few hundred. */
const MAX_STEPS = 2_000_000

/** A repetition with a range this wide behaves like an endless one. */
const WIDE = 10

/**
 * Whether matching may take exponential time, which a short string can then turn into minutes.
 *
 * The pattern becomes its position automaton. Backtracking explodes exactly when some loop can read the same
 * text in two ways; that shows as two different paths through the loop that start and end together, or as one
 * step that exists twice. Assertions count as matching nothing, so this may call a pattern unsafe that an
 * assertion saves; it does not look for merely quadratic patterns.
 */
export function isExplosive(root: RegexNode): boolean {
  const automaton = new Automaton()
  try {
    automaton.add(root)
    return automaton.isAmbiguous()
  } catch (thrown) {
    if (thrown === TOO_COMPLICATED) return true
    throw thrown
  }
}

const TOO_COMPLICATED = new Error("too complicated")

/** Where a part can begin and end, and whether it can be empty. */
interface Part {
  readonly first: readonly number[]
  readonly last: readonly number[]
  readonly nullable: boolean
  /** Contains an endless repetition. */
  readonly endless: boolean
}

const EMPTY: Part = { first: [], last: [], nullable: true, endless: false }

class Automaton {
  readonly #sets: CharSet[] = []
  readonly #next: Array<Set<number>> = []
  /** Steps that two different readings of the pattern both contain. */
  readonly #doubled: Array<readonly [number, number]> = []
  #steps = 0

  add(node: RegexNode): Part {
    switch (node.kind) {
      case "chars":
        return this.#position(node.set, false)
      case "backreference":
        return this.#position(ANYTHING, true)
      case "assertion":
        return EMPTY
      case "look":
        // Matched on its own, from wherever it stands; its loops are found as loops of their own.
        this.add(node.body)
        return EMPTY
      case "group":
        return this.add(node.body)
      case "sequence":
        return node.parts.map((part) => this.add(part)).reduce((a, b) => this.#join(a, b), EMPTY)
      case "choice":
        return node.options.map((option) => this.add(option)).reduce(either)
      case "repeat":
        return this.#repeat(this.add(node.body), node.min, node.max)
    }
  }

  isAmbiguous(): boolean {
    const component = this.#components()
    if (this.#doubled.some(([from, to]) => component[from] === component[to])) return true
    const members = new Map<number, number[]>()
    component.forEach((id, position) => addToList(members, id, position))
    for (const [id, positions] of members) {
      if (positions.length > 1 && this.#hasTwoWays(positions, component, id)) return true
    }
    return false
  }

  #position(set: CharSet, nullable: boolean): Part {
    const position = this.#sets.push(set) - 1
    this.#next.push(new Set())
    return { first: [position], last: [position], nullable, endless: false }
  }

  #join(a: Part, b: Part): Part {
    this.#connect(a.last, b.first)
    return {
      first: a.nullable ? [...a.first, ...b.first] : a.first,
      last: b.nullable ? [...a.last, ...b.last] : b.last,
      nullable: a.nullable && b.nullable,
      endless: a.endless || b.endless,
    }
  }

  #repeat(body: Part, min: number, max: number): Part {
    if (max === 0) return EMPTY
    const wide = max === Infinity || max - min >= WIDE || (body.endless && max >= 5)
    if (wide) this.#connect(body.last, body.first)
    return { ...body, nullable: body.nullable || min === 0, endless: body.endless || wide }
  }

  #connect(from: readonly number[], to: readonly number[]): void {
    this.#spend(from.length * to.length)
    for (const source of from) {
      const next = this.#next[source] as Set<number>
      for (const target of to) {
        if (next.has(target)) this.#doubled.push([source, target])
        else next.add(target)
      }
    }
  }

  /** Looks for two positions that a loop can be in after the same text, on the way from one place back to it. */
  #hasTwoWays(positions: readonly number[], component: readonly number[], id: number): boolean {
    const inside = (position: number): number[] =>
      [...(this.#next[position] as Set<number>)].filter((target) => component[target] === id)
    const steps = new Map(positions.map((position) => [position, inside(position)]))
    const size = this.#sets.length
    const backward = new Map<number, number[]>()
    const queue = positions.map((position) => position * size + position)
    const seen = new Set(queue)
    for (let pair = queue.pop(); pair !== undefined; pair = queue.pop()) {
      for (const left of steps.get(Math.floor(pair / size)) as number[]) {
        for (const right of steps.get(pair % size) as number[]) {
          this.#spend(1)
          if (!overlaps(this.#sets[left] as CharSet, this.#sets[right] as CharSet)) continue
          const target = left * size + right
          addToList(backward, target, pair)
          if (seen.has(target)) continue
          seen.add(target)
          queue.push(target)
        }
      }
    }
    // Every pair comes from the diagonal. One off it leads back if a step does: the diagonal is one circle.
    return positions.some((position) =>
      (backward.get(position * size + position) ?? []).some(
        (source) => Math.floor(source / size) !== source % size,
      ),
    )
  }

  /** Strongly connected components (Tarjan, with its stack written out: patterns can be long). */
  #components(): number[] {
    const count = this.#sets.length
    const index = new Array<number>(count).fill(-1)
    const low = new Array<number>(count).fill(0)
    const component = new Array<number>(count).fill(-1)
    const stack: number[] = []
    let order = 0
    let components = 0
    for (let root = 0; root < count; root++) {
      if (index[root] !== -1) continue
      const work: Array<{ node: number; rest: Iterator<number> }> = []
      const open = (node: number): void => {
        index[node] = low[node] = order++
        stack.push(node)
        work.push({ node, rest: (this.#next[node] as Set<number>).values() })
      }
      open(root)
      for (let frame = work.at(-1); frame !== undefined; frame = work.at(-1)) {
        const { node } = frame
        const step = frame.rest.next()
        if (!step.done) {
          const target = step.value
          if (index[target] === -1) open(target)
          else if (component[target] === -1) {
            low[node] = Math.min(low[node] as number, index[target] as number)
          }
          continue
        }
        work.pop()
        const parent = work.at(-1)?.node
        if (parent !== undefined) {
          low[parent] = Math.min(low[parent] as number, low[node] as number)
        }
        if (low[node] !== index[node]) continue
        for (let member = -1; member !== node;) {
          member = stack.pop() as number
          component[member] = components
        }
        components++
      }
    }
    return component
  }

  #spend(steps: number): void {
    this.#steps += steps
    if (this.#steps > MAX_STEPS) throw TOO_COMPLICATED
  }
}

function either(a: Part, b: Part): Part {
  return {
    first: [...a.first, ...b.first],
    last: [...a.last, ...b.last],
    nullable: a.nullable || b.nullable,
    endless: a.endless || b.endless,
  }
}
