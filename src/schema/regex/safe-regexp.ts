import { usesProperty } from "./char-set.ts"
import { proveLinear } from "./linear.ts"
import { LinearMatcher } from "./match.ts"
import { parseRegex, type RegexNode } from "./parse.ts"
import { compileRegex, type Program } from "./program.ts"

/** How a pattern is matched, so that no text takes long. */
export interface MatchPlan {
  /** Texts of up to this many characters are left to the native engine: `Infinity` when it is proven linear. */
  readonly native: number
  /** Longer ones are matched by this program, when there is one. */
  readonly program: Program | undefined
  /** Texts of up to this many characters are always checked; of longer ones, those that do not take too much work. */
  readonly limit: number
}

/** Steps of the native engine that a short text may cost: about a tenth of a millisecond. */
const NATIVE_STEPS = 40_000

/** Steps that a text may cost a pattern for which there is no proof. */
const UNPROVEN_STEPS = 1_000_000

/** Text that is too short to be worth a pattern. */
const MIN_LIMIT = 8

/** Instructions of a program that is run by us. */
const MAX_PROGRAM = 4_000

/** Instructions that one text may take: with up to 40 in the program, this is enough for 100,000 characters. */
export const MAX_WORK = 4_000_000

/** Maximum number of sets with `\p{…}` in one program: the native engine tests each character against them. */
const MAX_PROPERTIES = 4

const CACHE_SIZE = 500

/** Remembers what was made of a few hundred patterns: the same ones come again and again in one document. */
export function remembering<TMade>(
  make: (source: string, node?: RegexNode) => TMade,
): (source: string, node?: RegexNode) => TMade {
  const cache = new Map<string, TMade>()
  return (source, node) => {
    if (cache.has(source)) return cache.get(source) as TMade
    if (cache.size >= CACHE_SIZE) cache.clear()
    const made = make(source, node)
    cache.set(source, made)
    return made
  }
}

/**
 * Decides how a pattern is matched; `undefined` when even short texts may take too long.
 *
 * The native engine runs what is proven linear for it, and everything else on texts so short that it cannot matter.
 * Longer texts go to the automaton, which cannot run look-around and back-references: those are not checked.
 */
export const planMatch: (source: string, node?: RegexNode) => MatchPlan | undefined = remembering(
  (source, node) => makePlan(node ?? parseRegex(source)),
)

/** Whether the native engine matches a pattern in linear time. */
export function isNative(source: string): boolean {
  return planMatch(source)?.native === Infinity
}

/**
 * A regular expression, with the `u` flag, that takes time linear in its text whatever the pattern.
 *
 * Takes a pattern that was admitted (see pattern.ts). Those that the native engine matches in linear time are plain ones.
 */
export const safeRegExp: (source: string) => RegExp = remembering((source) => {
  const plan = planMatch(source)
  return plan?.native === Infinity
    ? new RegExp(source, "u")
    : new SafeRegExp(source, plan ?? { native: 0, program: undefined, limit: 0 })
})

/** The key of `patternProperties` that TypeBox writes for any text, as whose dot it misses those of several lines. */
const ANY_KEY = /^\^\(?\.\*\)?\$$/

/** A key of `patternProperties`, as it is meant. */
export function keyPattern(source: string): string {
  return ANY_KEY.test(source) ? "^" : source
}

/** Whether a text matches; `undefined` when it is too long for the pattern to be checked. */
export function matches(regexp: RegExp, text: string): boolean | undefined {
  return regexp instanceof SafeRegExp ? regexp.match(text) : regexp.test(text)
}

/** Is an instance of `RegExp` so that TypeBox takes it as the value of `pattern`. */
class SafeRegExp extends RegExp {
  readonly #plan: MatchPlan
  readonly #native: RegExp
  #matcher: LinearMatcher | undefined

  constructor(source: string, plan: MatchPlan) {
    super(source, "u")
    this.#plan = plan
    this.#native = new RegExp(source, "u")
  }

  match(text: string): boolean | undefined {
    const { native, program } = this.#plan
    if (text.length <= native) return this.#native.test(text)
    if (program === undefined) return undefined
    this.#matcher ??= new LinearMatcher(program)
    return this.#matcher.test(text, MAX_WORK)
  }

  /** A text that is too long to be checked passes. */
  override test(text: string): boolean {
    return this.match(text) ?? true
  }
}

function makePlan(node: RegexNode): MatchPlan | undefined {
  const program = compileRegex(node)
  const native = program === undefined ? 0 : nativeLimit(program)
  if (native === Infinity) return { native, program: undefined, limit: Infinity }
  if (program !== undefined && isRunnable(program)) {
    return { native, program, limit: Math.floor(MAX_WORK / program.instructions.length) }
  }
  const limit = Math.max(native, unprovenLimit(node))
  return limit < MIN_LIMIT ? undefined : { native: limit, program: undefined, limit }
}

/** Up to which length the native engine is quick. */
function nativeLimit(program: Program): number {
  const cost = proveLinear(program)
  if (cost === undefined) return 0
  if (cost.anchored) return Infinity
  if (cost.readsOn) return Math.floor(Math.sqrt(NATIVE_STEPS / cost.steps))
  return cost.steps <= 64 ? Infinity : Math.floor(NATIVE_STEPS / cost.steps)
}

function isRunnable({ instructions, hasLooks }: Program): boolean {
  if (hasLooks || instructions.length > MAX_PROGRAM) return false
  const properties = new Set<unknown>()
  for (const instruction of instructions) {
    if (instruction.op === "chars" && usesProperty(instruction.text))
      properties.add(instruction.set)
  }
  return properties.size <= MAX_PROPERTIES
}

/** The longest text for which all ways to read it can be tried, from every place in it. */
function unprovenLimit(node: RegexNode): number {
  const proofs = new Map<RegexNode, boolean>()
  let limit = 0
  for (let length = MIN_LIMIT; length <= 10_000; length = Math.ceil(length * 1.25)) {
    if (ways(node, length, proofs) * length > UNPROVEN_STEPS) break
    limit = length
  }
  return limit
}

/** At most so many ways lead through a part, from one place in a text of some length. */
function ways(node: RegexNode, length: number, proofs: Map<RegexNode, boolean>): number {
  switch (node.kind) {
    case "chars":
    case "assertion":
      return 1
    case "backreference":
      // One way, which compares up to the whole text.
      return length
    case "group":
    case "look":
      return ways(node.body, length, proofs)
    case "sequence":
      return node.parts.reduce((product, part) => product * ways(part, length, proofs), 1)
    case "choice":
      return node.options.reduce((sum, option) => sum + ways(option, length, proofs), 0)
    case "repeat": {
      let proven = proofs.get(node)
      if (proven === undefined) {
        const program = compileRegex(node)
        proven = program !== undefined && proveLinear(program)?.readsOn === true
        proofs.set(node, proven)
      }
      // It can end after every character, and is there in one way.
      if (proven) return length + 1
      const each = ways(node.body, length, proofs)
      const most = Math.min(node.max, length + node.min)
      // One way that has to be taken many times reads as many characters.
      return each <= 1 ? Math.max(most - node.min + 1, Math.min(node.min, length)) : each ** most
    }
  }
}
