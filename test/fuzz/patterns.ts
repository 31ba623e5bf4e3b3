import { admitSchema } from "../../src/schema/admit.ts"
import { compileValidator } from "../../src/schema/validator.ts"
import { admitPattern } from "../../src/schema/regex/pattern.ts"
import { LinearMatcher } from "../../src/schema/regex/match.ts"
import { parseRegex } from "../../src/schema/regex/parse.ts"
import { matches, MAX_WORK, planMatch, safeRegExp } from "../../src/schema/regex/safe-regexp.ts"
import type { MatchPlan } from "../../src/schema/regex/safe-regexp.ts"
import { createRegistry } from "../../src/index.ts"
import { Random } from "../sources/openapi/fuzz/random.ts"
import { PATTERNS } from "../sources/openapi/fuzz/junk.ts"
import { backtrackingSteps } from "../support/backtracking.ts"
import { expectThat } from "./laws.ts"
import type { Fuzzer } from "./laws.ts"

/** Characters of a long text. */
const LONG = 100_000
/** Characters of the text that a model of a backtracking engine is given, and its steps for each of them. */
const MODEL_TEXT = 400
const MODEL_STEPS = 2000
/** Steps after which the native engine is not asked. */
const CHEAP = 200_000
/** Milliseconds of work for one text, many times what the goal allows: what is not linear takes far longer. */
const MAX_CPU = 2000

interface Case {
  readonly pattern: string
  /** Repeated to a long text, with an end that does not match. */
  readonly units: readonly string[]
  readonly ends: readonly string[]
  readonly short: readonly string[]
}

/**
 * Ambiguous patterns with texts that make them slow: what matches a text of 100,000 characters takes a bounded number of
 * steps, or is not run on it, and short texts get the answer of the native engine.
 */
export function createPatternFuzzer(): Fuzzer {
  const registry = createRegistry([])
  return {
    show: caseOf,
    async run(seed) {
      const one = caseOf(seed)
      const admitted = admitPattern(one.pattern, 10_000)
      const source = "pattern" in admitted ? admitted.pattern : admitted.linear
      if (source === undefined) return "refused"
      const plan = planMatch(source)
      if (plan === undefined) throw new Error("an admitted pattern has no plan")
      for (const text of one.short) checkAnswer(source, plan, text)
      for (const text of longTexts(one)) {
        checkSteps(source, plan, text)
        timed(`${one.units[0]} in a search`, () => registry.search(text))
      }
      checkSchemas(one)
      return plan.native === Infinity ? "native" : plan.program === undefined ? "short" : "linear"
    },
    async [Symbol.asyncDispose]() {
      await registry.close()
    },
  }
}

function checkAnswer(source: string, plan: MatchPlan, text: string): void {
  // The native engine itself never ends with some.
  if (!isCheap(source, text)) return
  const answer = matches(safeRegExp(source), text)
  if (answer === undefined) {
    expectThat(text.length > plan.limit, `"${text}" is not checked, and the limit is ${plan.limit}`)
  } else {
    const expected = new RegExp(source, "u").test(text)
    expectThat(answer === expected, `${JSON.stringify(text)} gives ${answer}, not ${expected}`)
  }
  if (plan.program === undefined) return
  const automaton = new LinearMatcher(plan.program).test(text)
  const expected = new RegExp(source, "u").test(text)
  expectThat(automaton === expected, `the automaton gives ${automaton} for ${JSON.stringify(text)}`)
}

function checkSteps(source: string, plan: MatchPlan, text: string): void {
  const { native, program } = plan
  if (program !== undefined) {
    const matcher = new LinearMatcher(program)
    matcher.test(text, MAX_WORK)
    const most = MAX_WORK + program.instructions.length
    expectThat(matcher.steps <= most, `${matcher.steps} steps for a long text`)
  }
  const modelled = text.slice(0, Math.min(native, MODEL_TEXT)) + text.slice(-1)
  if (native > 0 && hasModel(source)) {
    const most = MODEL_STEPS * MODEL_TEXT
    const steps = backtrackingSteps(parseRegex(source), modelled, most + 1)
    expectThat(
      steps <= most,
      `the native engine takes ${steps} steps for ${modelled.length} characters`,
    )
  }
  const regexp = safeRegExp(source)
  // The longest text that is left to the native engine, and one that is longer than most limits.
  if (native !== Infinity) timed("a text at the limit", () => matches(regexp, text.slice(-native)))
  timed("a long text", () => matches(regexp, text))
}

function isCheap(source: string, text: string): boolean {
  if (!hasModel(source)) return text.length <= 6
  return backtrackingSteps(parseRegex(source), text, CHEAP) < CHEAP
}

/** The model knows no look-around, back-references and properties, and takes `\b` for true. */
function hasModel(source: string): boolean {
  return !/\(\?[<=!]|\\[1-9kpPbB]/.test(source)
}

function checkSchemas({ pattern, units: [unit = "a"], ends: [end = "!"] }: Case): void {
  const text = unit.repeat(LONG / 10 / unit.length) + end
  for (const [schema, value] of [
    [{ type: "string", pattern }, text],
    [{ patternProperties: { [pattern]: { type: "number" } } }, { [text]: 1 }],
    [{ propertyNames: { pattern }, additionalProperties: true }, { [text]: 1 }],
  ] as const) {
    const validator = compileValidator(admitSchema(schema).schema)
    timed(Object.keys(schema).join(), () => {
      validator.check(value)
      validator.errors(value)
    })
  }
}

function timed(what: string, run: () => unknown): void {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  const work = Math.round((user + system) / 1000)
  expectThat(work <= MAX_CPU, `${what}: ${work} ms of work`)
}

function* longTexts({ units, ends }: Case): Generator<string> {
  for (const unit of units) {
    for (const end of ends) yield unit.repeat(Math.ceil(LONG / unit.length)) + end
  }
}

const ATOMS = ["a", "b", "[ab]", ".", String.raw`\w`, String.raw`\W`, String.raw`\s`, "é", "[^a]"]
const RARE_ATOMS = [String.raw`\d`, String.raw`\p{L}`, "[a-zé]", String.raw`\-`, "😀", "[^]"]
const COUNTS = ["*", "+", "?", "*?", "{2}", "{0,3}", "{1,}", "+?"]
const RARE_COUNTS = ["{20}", "{1,50}", "{0,300}", "{1000,}", "{3,900}"]
const BEFORE = ["", "^", "^", String.raw`\b`, ".*"]
const AFTER = ["", "$", "b$", String.raw`\b`, String.raw`\B$`, "c"]
const LOOKS = ["(?=.*b)", "(?!a)", "(?<=b)", "(?<!a)"]
const UNITS = ["a", "b", "ab", "aab", " ", "é", "a ", "-", "😀", "1", "aaaaab", "\n"]
const ENDS = ["", "!", "c", "\n", "b!", "😀"]

function caseOf(seed: number): Case {
  const random = new Random(seed)
  const pick = (items: readonly string[]): string => random.pick(items)
  const body = random.once(40) ? pick(PATTERNS) : sequence(random, random.below(4))
  const look = random.once(10) ? pick(LOOKS) : ""
  const pattern = pick(BEFORE) + look + body + pick(AFTER)
  return {
    pattern,
    units: [pick(UNITS), pick(UNITS)],
    ends: [pick(ENDS)],
    short: Array.from({ length: 6 }, () =>
      Array.from({ length: random.below(9) }, () => pick(UNITS)).join(""),
    ),
  }
}

function sequence(random: Random, depth: number): string {
  return Array.from({ length: 1 + random.below(3) }, () => part(random, depth)).join("")
}

function part(random: Random, depth: number): string {
  const body = depth === 0 || random.once(2) ? atom(random) : group(random, depth - 1)
  if (random.once(4)) return body
  const count = random.pick(random.once(12) ? RARE_COUNTS : COUNTS)
  // A repetition of a repetition needs a group of its own.
  return `(?:${body})${count}`
}

function atom(random: Random): string {
  return random.pick(random.once(6) ? RARE_ATOMS : ATOMS)
}

function group(random: Random, depth: number): string {
  const options = Array.from({ length: 1 + random.below(2) }, () => sequence(random, depth))
  if (random.once(40)) return `(${options.join("|")})${String.raw`\1`}`
  const open = random.once(30) ? random.pick(["(?=", "(?!", "(?<=", "(?<!"]) : "(?:"
  return `(?:${open}${options.join("|")}))`
}
