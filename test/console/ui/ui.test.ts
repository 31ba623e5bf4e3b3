import { describe, expect, test } from "vitest"
import type { HTTPProblem } from "../../../console/src/api/model.ts"
import { adviceFor, issuesOf } from "../../../console/src/ui/advice.ts"
import { cx } from "../../../console/src/ui/cx.ts"
import { formatBytes, formatCount, formatDuration } from "../../../console/src/ui/format.ts"
import { highlight } from "../../../console/src/ui/highlight.ts"

test("cx omits empty names", () => {
  expect(cx("a", false, undefined, null, "", "b")).toBe("a b")
  expect(cx()).toBe("")
})

test.each([
  [0, "0 ms"],
  [0.44, "0.4 ms"],
  [9.99, "10 ms"],
  [312.4, "312 ms"],
  [999.6, "1 s"],
  [1234, "1.23 s"],
  [42_300, "42.3 s"],
  [59_960, "1 min"],
  [185_000, "3 min 5 s"],
  [3_600_000, "1 h"],
  [7_440_000, "2 h 4 min"],
  [-1, "–"],
  [Number.NaN, "–"],
  [Number.POSITIVE_INFINITY, "–"],
])("formatDuration(%d) is %j", (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

test("formatBytes and formatCount choose unit and number", () => {
  expect(formatBytes(12)).toBe("12 B")
  expect(formatBytes(2048)).toBe("2 KB")
  expect(formatBytes(5_500_000)).toBe("5.2 MB")
  expect(formatCount(1, "operation")).toBe("1 operation")
  expect(formatCount(1204, "operation")).toBe("1,204 operations")
  expect(formatCount(0, "query", "queries")).toBe("0 queries")
})

describe("highlight", () => {
  test.each([
    ["json", '{ "a": [1, -2.5e3, "x\\"y", true, null] }'],
    ["ts", 'import { a } from "b" // why\nconst c = `d ${1}`'],
    ["sh", "curl -s --json '{\"a\":1}' http://x # note"],
    ["nothing-known", "<b>bold</b>"],
    ["__proto__", "x"],
    ["json", '{ broken " json'],
    [undefined, ""],
  ])("keeps every letter of %s", (language, code) => {
    const tokens = highlight(code, language)
    expect(tokens.map(({ text }) => text).join("")).toBe(code)
  })

  test("distinguishes keys from strings", () => {
    const kinds = highlight('{"a": "b", "n": 1}', "json")
      .filter(({ kind }) => kind !== "plain")
      .map(({ kind }) => kind)
    expect(kinds).toEqual(["key", "string", "key", "number"])
  })

  test("leaves very long texts in one piece", () => {
    expect(highlight('"a",'.repeat(20_000), "json")).toHaveLength(1)
  })
})

describe("the advice for a problem", () => {
  test("says when to try again, or gives the advice of the code", () => {
    expect(adviceFor(problem({ code: "RATE_LIMITED", retryAfterMs: 4200 }))).toContain("4.2 s")
    expect(adviceFor(problem({ code: "UNAUTHENTICATED" }))).toContain("Sign in")
    expect(adviceFor(problem({ code: "OUT_OF_STOCK" }))).toBeUndefined()
    expect(adviceFor(problem({ code: "OUT_OF_STOCK", retryable: true }))).toContain("try again")
    expect(adviceFor(problem({ code: "__proto__" }))).toBeUndefined()
  })

  test("lists the validation errors of an input, and skips malformed ones", () => {
    const errors = [{ path: "/a", message: "must be string" }, null, 1, { path: 2 }]
    expect(issuesOf(problem({ details: { errors } }))).toEqual([errors[0]])
    expect(issuesOf(problem({ details: { errors: "x" } }))).toEqual([])
    expect(issuesOf(problem({ details: null }))).toEqual([])
    expect(issuesOf(problem({}))).toEqual([])
  })
})

function problem(more: Partial<HTTPProblem>): HTTPProblem {
  return {
    type: "about:blank",
    title: "A problem",
    status: 400,
    detail: "It is one.",
    code: "X",
    retryable: false,
    mayHaveExecuted: false,
    ...more,
  }
}
