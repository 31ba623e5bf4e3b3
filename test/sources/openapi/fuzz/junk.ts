// Things that documents should not hold, and do when somebody means harm or makes a mistake.
import type { Random } from "./random.ts"

const SCALARS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  "",
  " ",
  "a",
  "null",
  "__proto__",
  "constructor",
  "\u0000",
  "\ud800",
  "\r\nX-Evil: 1",
  "../..",
  "%2e%2e%2f",
  "//evil.test/",
  "https://evil.test",
  "http://169.254.169.254/latest",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "{a}",
  "}{",
  "ünïcödé 字",
]

/** What is no JSON, yet may be in an object that a program made. */
const ALIENS: readonly (() => unknown)[] = [
  () => undefined,
  () => Number.NaN,
  () => Infinity,
  () => 10n,
  () => Symbol("junk"),
  () => () => "function",
  () => new Date(0),
  () => new Map([["a", 1]]),
  () => new Set([1]),
  () => new Uint8Array(4),
  () => /x/,
  () => Object.create({ inherited: true }) as object,
  () => Object.create(null) as object,
  () => Array.from({ length: 3 }),
]

/** Patterns that are wrong, dear, or fit for another language. */
export const PATTERNS: readonly string[] = [
  "(a+)+$",
  "^(a|a)*b$",
  "^(([a-z])+.)+[A-Z]([a-z])+$",
  "(x+x+)+y",
  "(.*a){25}",
  "(?i)abc",
  "[",
  "(",
  "*",
  "a{1,100000}",
  "a{99999999999}",
  "(?<=a)b",
  String.raw`\p{L}+`,
  String.raw`^\d{3}-\d{4}$`,
  String.raw`\1(a)`,
  "(?:".repeat(2000) + ")".repeat(2000),
  "a?".repeat(30) + "a".repeat(30),
  "",
  "\u0000",
]

/** Texts for values of parameters: a path, a query and a header each have their own way to be broken. */
export const HOSTILE: readonly string[] = [
  "..",
  ".",
  "",
  "../../etc/passwd",
  "a/b",
  String.raw`..\..`,
  "%2e%2e",
  "%2F",
  "a?b=c",
  "a#b",
  "a\r\nX-Evil: 1",
  "a\u0000b",
  "\ud800",
  "//evil.test",
  "https://evil.test",
  "@evil.test",
  ":80",
  "ünï 字",
  "a b+c&d=e;f,g|h",
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
]

export const NAMES: readonly string[] = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "$ref",
  "$id",
  "$defs",
  "",
  " ",
  "0",
  "-1",
  "a/b~c%d",
  "body",
  "body_body",
  "id",
  "x-thing",
  "{}",
  "length",
  "then",
  "toJSON",
  "\u0000",
  "\ud800",
  "n".repeat(5000),
]

/** Any value that fits nowhere. */
export function junk(random: Random): unknown {
  switch (random.below(14)) {
    case 0:
      return []
    case 1:
      return {}
    case 2:
      return [[]]
    case 3:
      return [null, {}, "a", 1]
    case 4:
      return "h".repeat(100_000)
    case 5:
      return Array.from({ length: 3000 }, (_, index) => index)
    case 6:
      return polluting()
    case 7:
      return deep(random)
    case 8:
      // `String` and spreading cannot take these.
      return random.pick<object>([
        { toString: null, valueOf: null },
        { length: 1e9 },
        { then: "x", toJSON: 1 },
      ])
    default:
      return random.pick(SCALARS)
  }
}

/** A value that no JSON text gives. */
export function alien(random: Random): unknown {
  return random.pick(ALIENS)()
}

/** Keys that would reach the prototype of everything if they were assigned. */
export function polluting(): unknown {
  return JSON.parse(
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"type":"object","properties":{"__proto__":{"type":"string","polluted":true}}}',
  )
}

/** Something nested a long way down. */
export function deep(random: Random): unknown {
  const key = random.pick([
    "properties",
    "items",
    "allOf",
    "anyOf",
    "not",
    "additionalProperties",
    "list",
  ])
  let value: unknown = { type: "string" }
  for (let level = random.pick([30, 150, 250, 600, 5000]); level > 0; level--) {
    if (key === "list") value = [value]
    else if (key === "allOf" || key === "anyOf") value = { [key]: [value] }
    else if (key === "properties") value = { properties: { a: value } }
    else value = { [key]: value }
  }
  return value
}
