import { describe, expect, test } from "vitest"
import { admitSchema } from "../../src/schema/admit.ts"
import { compileValidator } from "../../src/schema/validator.ts"
import { admitPattern } from "../../src/schema/regex/pattern.ts"
import { parseRegex } from "../../src/schema/regex/parse.ts"
import { isExplosive } from "../../src/schema/regex/safety.ts"
import { isNative } from "../../src/schema/regex/safe-regexp.ts"
import { TOO_LONG } from "../support/patience.ts"

const admit = (pattern: string): string => {
  const result = admitPattern(pattern, 4096)
  return "pattern" in result ? result.pattern : result.code
}

describe("patterns that are legal only without the u flag", () => {
  test.each([
    [String.raw`[\w-\.]`, String.raw`[\w\-.]`],
    [String.raw`[a-\d]`, String.raw`[a\-\d]`],
    [String.raw`[\d-x]`, String.raw`[\d\-x]`],
    [String.raw`\_x\-y`, "_x-y"],
    [String.raw`\'\"`, `'"`],
    ["a{", String.raw`a\{`],
    ["a{,2}", String.raw`a\{,2\}`],
    ["}]", String.raw`\}\]`],
    ["(?=a)*b", "(?:(?=a))*b"],
    [String.raw`\c\_`, String.raw`\\c_`],
    [String.raw`[\c]\_`, String.raw`[\\c]_`],
    [String.raw`\8\_`, "8_"],
    [String.raw`\12\_`, String.raw`\u000a_`],
    [String.raw`[\B\b\_]`, String.raw`[B\u0008_]`],
    [String.raw`\k\_`, "k_"],
    [String.raw`\k<a>\_`, "k<a>_"],
    [String.raw`\x4\u12\_`, "x4u12_"],
    [String.raw`(a)\1\_`, String.raw`(a)\1_`],
    [String.raw`(?<a>b)\k<a>\_`, String.raw`(?<a>b)\k<a>_`],
    [String.raw`\t\v\f\r\n\cA\_`, String.raw`\u0009\u000b\u000c\u000d\u000a\u0001_`],
    [String.raw`[\x41\u0042-\u{43}\_]`, "[AB-C_]"],
    [String.raw`\p{Lu}[\p{Lu}\_]`, String.raw`\p{Lu}[\p{Lu}_]`],
    [String.raw`(?:a|b)+?\_`, "(?:a|b)+?_"],
    [String.raw`(?<=a)(?<!b)(?!c)\_`, "(?<=a)(?<!b)(?!c)_"],
    [String.raw`^[^\s\_]*$`, String.raw`^[^\s_]*$`],
    [String.raw`\bx\B\_`, String.raw`\bx\B_`],
    [String.raw`a{2}b{2,}c{2,3}?\_`, "a{2}b{2,}c{2,3}?_"],
  ])("%s becomes %s", (pattern, rewritten) => {
    expect(() => new RegExp(pattern, "u")).toThrow("Invalid regular expression")
    expect(admit(pattern)).toBe(rewritten)
  })

  test("legal ones stay as they are written", () => {
    for (const pattern of [String.raw`^\u{1F600}$`, String.raw`\/a`, "", "[]", "[^]", "a|b|"]) {
      expect(admit(pattern)).toBe(pattern)
    }
  })
})

describe("patterns that are taken without analysis", () => {
  test.each([
    "^",
    "^$",
    "^/v1/file_links",
    "^/v1/accounts/[^/]+/persons",
    "^/[^/]+/[^/]+$",
    "^[^/]+",
    "^a-z: @,=&%#~ 0$",
  ])("the analysis finds nothing in %s", (pattern) => {
    expect(admitPattern(pattern, 4096)).toEqual({ pattern })
    expect(isNative(pattern)).toBe(true)
    expect(isExplosive(parseRegex(pattern))).toBe(false)
    expect(() => new RegExp(pattern, "u")).not.toThrow()
  })

  test.each([
    ["^([^/]+)+$", "unsafe-pattern"],
    ["^/[^/]+/)", "bad-pattern"],
  ])("%s is not one of them", (pattern, expected) => {
    expect(admit(pattern)).toBe(expected)
  })
})

describe("patterns that cannot run", () => {
  test.each([
    "(",
    "[",
    "*",
    "a**",
    String.raw`\\`.slice(1),
    "(?i)a",
    "[b-a]",
    ")",
    "(?<a",
    "x{2,1}",
  ])("%s", (pattern) => {
    expect(admit(pattern)).toBe("bad-pattern")
  })

  test("one that is too long, or too deep for anybody to have written", () => {
    expect(admitPattern("a".repeat(11), 10)).toMatchObject({ code: "bad-pattern" })
    expect(admit(`${"(".repeat(500)}a${")".repeat(500)}`)).toBe("bad-pattern")
  })

  test("is dropped with a diagnostic, under patternProperties with what depends on it", () => {
    const { schema, diagnostics } = admitSchema({
      properties: { a: { pattern: "(", maxLength: 2 } },
      patternProperties: { "(": { type: "string" }, "^x": { type: "number" } },
      additionalProperties: false,
    })
    expect(diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([
      "bad-pattern /patternProperties/(",
      "bad-pattern /properties/a/pattern",
    ])
    expect(schema).toEqual({
      properties: { a: { maxLength: 2 } },
      patternProperties: { "^x": { type: "number" } },
    })
  })
})

describe("patterns that may hang", () => {
  test.each([
    "^(a+)+$",
    "(x|xx)*y",
    "(.*)*",
    String.raw`(\w+\s?)*$`,
    String.raw`(\s*,\s*)*x`,
    "(a|a)*b",
    "(a?b?)*c",
    "(a*b*)*c",
    "^(a{1,50}){1,50}$",
    "^(.*a){20}$",
    "(?=(a+)+$)b",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    String.raw`^([\/\w \.-]*)*\/?$`,
    String.raw`(a)(\1*)*b`,
    "^(?:a|[ab])+$",
    String.raw`^(\p{L}+\w?)+$`,
  ])("%s is refused", (pattern) => {
    expect(admit(pattern)).toBe("unsafe-pattern")
  })

  test.each([
    ["uuid", "^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$"],
    ["email", String.raw`^[\w.+-]+@([\w-]+\.)+[\w-]{2,}$`],
    [
      "long email",
      String.raw`^(([^<>()[\]\.,;:\s@\"]+(\.[^<>()[\]\.,;:\s@\"]+)*)|(\".+\"))@(([^<>()[\]\.,;:\s@\"]+\.)+[^<>()[\]\.,;:\s@\"]{2,})$`,
    ],
    [
      "semver",
      String.raw`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`,
    ],
    ["date", String.raw`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`],
    ["date-time", String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$`],
    ["slug", "^[a-z0-9]+(?:-[a-z0-9]+)*$"],
    ["host", String.raw`^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$`],
    ["ipv4", String.raw`^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$`],
    ["base64", "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"],
    ["hex bytes", "^([A-F0-9]{2})+$"],
    ["path", "^(/[^/]+)*/?$"],
    ["words", String.raw`^\w+(\s\w+)*$`],
    ["list", String.raw`^\s*\w+(\s*,\s*\w+)*\s*$`],
    ["url", String.raw`^https?://[^\s/$.?#].[^\s]*$`],
    ["nothing", "(?:){3}a{0}"],
  ])("%s is not", (_, pattern) => {
    expect(admit(pattern)).not.toMatch(/^(bad|unsafe)-pattern$/)
  })

  test("screening does not hang itself", () => {
    const started = performance.now()
    for (const pattern of [
      `(${"a|".repeat(2000)}b)*`,
      `(${"[a-z]?".repeat(600)})*`,
      `${"(a*".repeat(150)}${")*".repeat(150)}`,
      "a*".repeat(2000),
    ]) {
      admit(pattern)
    }
    expect(performance.now() - started).toBeLessThan(TOO_LONG)
    expect(admit(`(${"[a-z]?".repeat(600)})*`)).toBe("unsafe-pattern")
  })

  test("is dropped with a diagnostic", () => {
    const { schema, diagnostics } = admitSchema({ type: "string", pattern: "^(a+)+$" })
    expect(schema).toEqual({ type: "string" })
    expect(diagnostics).toMatchObject([{ code: "unsafe-pattern", path: "/pattern" }])
    expect(diagnostics[0]?.message).toContain('"^(a+)+$" may take exponential time')
  })
})

test("keys of patternProperties are rewritten, two spellings of one pattern together", () => {
  const { schema } = admitSchema({
    patternProperties: {
      [String.raw`^\_`]: { type: "string" },
      "^_": { minLength: 2 },
      "^y": { type: "null" },
    },
  })
  const validator = compileValidator(schema)
  expect(validator.check({ _a: "xx" })).toBe(true)
  expect(validator.check({ _a: "x" })).toBe(false)
  expect(validator.check({ _a: 1 })).toBe(false)
})

test("the memory of screened patterns is bounded", () => {
  for (let i = 0; i < 1200; i++) expect(admit(`^${i}$`)).toBe(`^${i}$`)
})
