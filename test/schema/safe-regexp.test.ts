import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { admitSchema } from "../../src/schema/admit.ts"
import { compileValidator } from "../../src/schema/validator.ts"
import { Normalizer } from "../../src/schema/normalize/index.ts"
import { LinearMatcher } from "../../src/schema/regex/match.ts"
import { parseRegex } from "../../src/schema/regex/parse.ts"
import { compileRegex, type Program } from "../../src/schema/regex/program.ts"
import { isNative, matches, planMatch, safeRegExp } from "../../src/schema/regex/safe-regexp.ts"
import { backtrackingSteps } from "../support/backtracking.ts"
import { runs } from "../support/nightly.ts"

// Nothing here is measured in time: a text of this length never ends where the time grows with a power of it.
const LONG = 100_000

/** Patterns that can read the same text in many ways, from pieces that overlap. */
const atom = fc.constantFrom("a", "b", "[ab]", ".", String.raw`\w`, String.raw`\W`, "é", "[^a]")
const pattern = fc
  .letrec<{ node: string; repeat: string; group: string }>((tie) => ({
    node: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      atom,
      tie("repeat"),
      tie("group"),
    ),
    repeat: fc
      .tuple(tie("node"), fc.constantFrom("*", "+", "?", "{2}", "{0,3}", "{1,}", "*?"))
      .map(([body, count]) => `(?:${body})${count}`),
    group: fc
      .array(fc.array(tie("node"), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 })
      .map((options) => `(?:${options.map((parts) => parts.join("")).join("|")})`),
  }))
  .node.chain((body) =>
    fc
      .tuple(
        fc.constantFrom("", "^", String.raw`\b`),
        fc.constantFrom("", "$", "b$", String.raw`\b`, String.raw`\B$`, "c"),
      )
      .map(([before, after]) => `${before}${body}${after}`),
  )
const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "é", "\n", "😀"), maxLength: 12 })

describe("matching in linear time", () => {
  test("gives the same answers as the native engine, for any pattern", () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 4, maxLength: 8 }), (source, texts) => {
        const matcher = new LinearMatcher(compileRegex(parseRegex(source)) as Program)
        const native = new RegExp(source, "u")
        for (const one of texts) expect(matcher.test(one), one).toBe(native.test(one))
      }),
      { numRuns: runs(400) },
    )
  })

  test("takes at most one look at each instruction per character", () => {
    fc.assert(
      fc.property(pattern, fc.constantFrom("a", "b", "ab", "aab", "é"), (source, unit) => {
        const program = compileRegex(parseRegex(source)) as Program
        const matcher = new LinearMatcher(program)
        const long = unit.repeat(500)
        matcher.test(`${long}!`)
        expect(matcher.steps).toBeLessThanOrEqual(program.instructions.length * (long.length + 2))
      }),
      { numRuns: runs(150) },
    )
  })

  test("leaves to the native engine only what takes it linear time", () => {
    fc.assert(
      fc.property(pattern, fc.constantFrom("a", "b", "ab", "aab", "aaab"), (source, unit) => {
        if (!isNative(source)) return
        const node = parseRegex(source)
        for (const end of ["", "!", "c"]) {
          const length = 400
          const steps = backtrackingSteps(node, unit.repeat(length / unit.length) + end, 4_000_000)
          expect(steps).toBeLessThanOrEqual(2_000 * length)
        }
      }),
      { numRuns: runs(200) },
    )
  })

  test.each([
    ["^a*a*a*a*a*a*a*b$", "a", ""],
    [String.raw`\s+$`, " ", "x"],
    ["^(a+)+$", "a", "!"],
    [`^${"a?".repeat(40)}${"a".repeat(40)}b$`, "a", ""],
    ["^(?:a*|b*)(?:a*|b*)(?:a*|b*)(?:a*|b*)c$", "a", ""],
    ["(?:a|b)*a(?:a|b){12}$", "ab", "c"],
    ["(.*)*x", "a", ""],
    ["^[^@]+@[^@]+\\.[^@]+$", "a@a.", "@"],
    [String.raw`^\p{L}+\p{L}+\d$`, "é", "!"],
    [String.raw`\b\w+\b\w*!$`, "a", "?"],
  ])("%s refuses a long text", (source, unit, end) => {
    const long = unit.repeat(LONG / unit.length) + end
    expect(matches(safeRegExp(source), long)).toBe(false)
  })

  test.each([
    ["a slug", "^[a-z0-9]+(?:-[a-z0-9]+)*$"],
    ["a uuid", "^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$"],
    ["a prefix", "^x-"],
    ["a label", "^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"],
    [
      "names of Kubernetes",
      String.raw`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`,
    ],
    ["a length", "^.{1,4096}$"],
    ["a password", String.raw`^(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{8,}$`],
    ["an address", String.raw`^https?://[^\s/$.?#].[^\s]*$`],
    ["a date", String.raw`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`],
  ])("%s is left to the native engine", (_, source) => {
    expect(isNative(source)).toBe(true)
    expect(safeRegExp(source).constructor).toBe(RegExp)
  })

  test("a pattern with a look-around or a back-reference is not run on a text that is too long for it", () => {
    const source = String.raw`^(\w+)-\1$`
    const { limit } = planMatch(source) ?? { limit: 0 }
    expect(limit).toBeGreaterThan(50)
    expect(matches(safeRegExp(source), "ab-ab")).toBe(true)
    expect(matches(safeRegExp(source), "ab-ac")).toBe(false)
    expect(matches(safeRegExp(source), "a".repeat(limit + 1))).toBe(undefined)
    expect(safeRegExp(source).test("a".repeat(limit + 1))).toBe(true)
  })

  test.each([".*a{99999999999}$", ".*a{5000}$", "(?:a|b)*a{99999999999}c"])(
    "%s, whose count is too large for the automaton, is run on short texts only",
    (source) => {
      const { limit } = planMatch(source) ?? { limit: 0 }
      const steps = backtrackingSteps(parseRegex(source), "a".repeat(limit), 4_000_000)
      expect(steps).toBeLessThan(1_000_000)
      expect(matches(safeRegExp(source), "a".repeat(limit + 1))).toBe(undefined)
    },
  )

  test("a pattern whose work grows beyond all bounds gives up instead of going on", () => {
    let seed = 1
    const random = Array.from({ length: LONG }, () =>
      (seed = (seed * 48_271) % 2_147_483_647) % 2 === 0 ? "a" : "b",
    )
    expect(matches(safeRegExp("(a|b)*a(a|b){900}c$"), random.join(""))).toBe(undefined)
  })
})

describe("schemas with patterns that a backtracking engine takes long for", () => {
  const slow = "^a*a*a*a*a*a*a*b$"
  const good = `${"a".repeat(LONG)}b`
  const bad = "a".repeat(LONG)
  const compile = (source: unknown): ReturnType<typeof compileValidator> =>
    compileValidator(admitSchema(source).schema)

  test("pattern", () => {
    const validator = compile({ type: "string", pattern: slow })
    expect([validator.check(good), validator.check(bad)]).toEqual([true, false])
    expect(validator.errors(bad)).toMatchObject([{ keyword: "pattern" }])
  })

  test("propertyNames", () => {
    const validator = compile({ propertyNames: { pattern: slow } })
    expect([validator.check({ [good]: 1 }), validator.check({ [bad]: 1 })]).toEqual([true, false])
    expect(validator.errors({ [bad]: 1 })).toMatchObject([{ keyword: "propertyNames" }])
  })

  test.each(["additionalProperties", "unevaluatedProperties"])(
    "patternProperties with %s",
    (rest) => {
      const validator = compile({
        properties: { "x.y": { type: "null" } },
        patternProperties: { [slow]: { type: "number" }, "^n": { type: "null" } },
        [rest]: false,
      })
      expect(validator.check({ [good]: 1, "x.y": null, n1: null })).toBe(true)
      expect(validator.check({ [good]: "1" })).toBe(false)
      for (const name of [bad, "xay"]) {
        expect(validator.check({ [name]: null })).toBe(false)
        expect(validator.errors({ [name]: null })).toMatchObject([{ keyword: rest }])
      }
    },
  )

  test("patternProperties, with a back-reference among others", () => {
    const validator = compile({
      patternProperties: { [String.raw`^(\w)\1$`]: { type: "number" }, "^(n)": {} },
      additionalProperties: false,
    })
    expect(validator.check({ aa: 1, n: 1 })).toBe(true)
    expect(validator.check({ ab: 1 })).toBe(false)
    // Too long to check: accepted without a check.
    expect(validator.check({ ["a".repeat(LONG)]: "x" })).toBe(true)
    expect(validator.errors({ ["a".repeat(LONG)]: "x", ab: 1 })).toHaveLength(1)
  })

  test("normalising", () => {
    const { schema } = admitSchema({
      type: "object",
      patternProperties: { [slow]: { type: "number" } },
    })
    const normalizer = new Normalizer(schema, {
      strip: true,
      defaults: true,
      convert: true,
      check: () => () => true,
    })
    expect(normalizer.normalize({ [good]: "1", [bad]: "1" }).value).toEqual({ [good]: 1 })
  })

  test("an exponential pattern stays out of the schema, and is checked all the same", () => {
    const { schema, diagnostics } = admitSchema({
      type: "string",
      pattern: "^(a+)+$",
      minLength: 1,
    })
    expect(schema).toEqual({ type: "string", minLength: 1 })
    expect(diagnostics[0]?.message).toContain("matched in linear time by this library alone")
    const validator = compileValidator(schema)
    expect([validator.check(bad), validator.check(`${bad}!`)]).toEqual([true, false])
    expect(validator.errors("b")).toMatchObject([{ message: 'must match the pattern "^(a+)+$"' }])
  })

  test("a pattern that is checked on short texts alone gets a diagnostic", () => {
    const { diagnostics } = admitSchema({
      pattern: String.raw`^(\w+)-\1$`,
      patternProperties: { [String.raw`(\w+) \1`]: {} },
    })
    expect(diagnostics).toMatchObject([
      { code: "slow-pattern", path: "/pattern" },
      { code: "slow-pattern", path: String.raw`/patternProperties/(\w+) \1` },
    ])
    expect(diagnostics[0]?.message).toMatch(/text of more than \d+ characters may go unchecked/)
  })
})
