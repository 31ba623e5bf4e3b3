import type { Goal } from "./goals.ts"
import type { Library } from "./library.ts"

/** The worst time of a pattern for 100 KB of text. */
export interface PatternResults {
  readonly patterns: readonly { readonly pattern: string; readonly milliseconds: number }[]
}

const LENGTH = 100_000
const MAX_MS = 50

/** Patterns that a backtracking engine takes a power of the text for, and some that have to stay as fast as they are. */
const PATTERNS: readonly string[] = [
  "^a*a*a*a*a*a*a*b$",
  String.raw`\s+$`,
  "^(a+)+$",
  `^${"a?".repeat(40)}${"a".repeat(40)}b$`,
  "(a|b)*a(a|b){20}c$",
  "(a|b)*a(a|b){900}c$",
  "^[^@]+@[^@]+\\.[^@]+$",
  String.raw`^\p{L}+\p{L}+\d$`,
  String.raw`^(\w+)-\1$`,
  String.raw`(?<!a)\w+\d`,
  "^[a-z0-9]+(?:-[a-z0-9]+)*$",
]
const TEXTS: readonly string[] = [
  ...["a", " ", "ab", "a@a.", "é", "-", "a-"].map((unit) => unit.repeat(LENGTH / unit.length)),
  mixed(),
]

/** Matches each pattern against texts that are chosen to take long. */
export function measurePatterns(
  { compileSchema }: Library,
  log: (text: string) => void,
): PatternResults {
  log("Matching patterns against long texts")
  const patterns = PATTERNS.map((pattern) => {
    let milliseconds = 0
    for (const text of TEXTS) {
      for (const end of ["", "!"]) {
        const validator = compileSchema({ type: "string", pattern })
        validator.check("a")
        const value = text + end
        const start = performance.now()
        validator.check(value)
        milliseconds = Math.max(milliseconds, performance.now() - start)
      }
    }
    return { pattern, milliseconds }
  })
  return { patterns }
}

/** The times, as plain text. */
export function patternTables({ patterns }: PatternResults): string[] {
  const lines = patterns.map(
    ({ pattern, milliseconds }) =>
      `${pattern.slice(0, 40).padEnd(44)}${milliseconds.toFixed(1).padStart(8)} ms`,
  )
  return [`Patterns, the slowest of several texts of 100 KB\n\n${lines.join("\n")}`]
}

/** The goals of the package. */
export function patternGoals({ patterns }: PatternResults): Goal[] {
  const slowest = Math.max(...patterns.map(({ milliseconds }) => milliseconds))
  return [
    {
      goal: `100 KB of any text against any pattern: at most ${MAX_MS} ms`,
      measured: `${slowest.toFixed(1)} ms`,
      isMet: slowest <= MAX_MS,
    },
  ]
}

/** Letters in no order, so that few states of an automaton come twice. */
function mixed(): string {
  let seed = 1
  let text = ""
  for (let at = 0; at < LENGTH; at++) {
    seed = (seed * 48_271) % 2_147_483_647
    text += seed % 2 === 0 ? "a" : "b"
  }
  return text
}
