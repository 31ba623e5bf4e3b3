import { describe, expect, test } from "vitest"
import fc from "fast-check"
import { APPEND, parseArgument, parseKey } from "../../../src/cli/input/argument.ts"
import { UsageError } from "../../../src/cli/model.ts"
import { codePoint } from "../../support/code-point.ts"

describe("parseKey", () => {
  test.each([
    ["a", ["a"]],
    ["a.b.c", ["a", "b", "c"]],
    ["a[0].b", ["a", 0, "b"]],
    ["a[]", ["a", APPEND]],
    ["a[][0]", ["a", APPEND, 0]],
    ["a[b]", ["a", "b"]],
    ['a["b.c"]', ["a", "b.c"]],
    [String.raw`a["q\"]x"]`, ["a", 'q"]x']],
    [String.raw`a\.b`, ["a.b"]],
    [String.raw`a\[0\]`, ["a[0]"]],
    ["X-Header", ["X-Header"]],
    ["__proto__.x", ["__proto__", "x"]],
    ["größe", ["größe"]],
  ])("%s", (key, steps) => {
    expect(parseKey(key)).toEqual(steps)
  })

  test.each([".a", "a..b", "a.", "[0]", "a[0", 'a["x', "a[0]b", "a[99999]", "a[].", ""])(
    "refuses %j, and says how it is written",
    (key) => {
      expect(() => parseKey(key)).toThrow(UsageError)
      expect(() => parseKey(key)).toThrow(/Write a\.b, a\[0\], a\[\] or a\["b\.c"\]/)
    },
  )
})

describe("parseArgument", () => {
  test.each([
    ["a=b", { key: "a", as: "text", from: "argument", value: "b" }],
    ["a=", { key: "a", as: "text", from: "argument", value: "" }],
    ["a=b=c", { key: "a", as: "text", from: "argument", value: "b=c" }],
    ["a==b", { key: "a", as: "text", from: "argument", value: "=b" }],
    ["a:=5", { key: "a", as: "json", from: "argument", value: "5" }],
    ["a=@f.txt", { key: "a", as: "text", from: "file", value: "f.txt" }],
    ["a:=@f.json", { key: "a", as: "json", from: "file", value: "f.json" }],
    ["a=@-", { key: "a", as: "text", from: "stdin", value: "" }],
    ["a=@@ada", { key: "a", as: "text", from: "argument", value: "@ada" }],
    ["a=https://x/?q=1", { key: "a", as: "text", from: "argument", value: "https://x/?q=1" }],
    ["a= spaced ", { key: "a", as: "text", from: "argument", value: " spaced " }],
    [String.raw`a\:=x`, { as: "text", value: "x", steps: ["a:"] }],
    [String.raw`a\=b=c`, { as: "text", value: "c", steps: ["a=b"] }],
    ['a["x=y"]=z', { as: "text", value: "z", steps: ["a", "x=y"] }],
  ])("%s", (text, parts) => {
    expect(parseArgument(text)).toMatchObject(parts)
  })

  test.each([
    ["owner", "Write key=value, key:=json, key=@file or --input file.json"],
    ["=x", "Write key=value"],
    [":=x", "Write key=value"],
    ["", "Write key=value"],
    ['{"a":1}', "Give JSON with --input"],
    ["a=@", "For the text itself: a=@@"],
  ])("refuses %j with the cure", (text, cure) => {
    expect(() => parseArgument(text)).toThrow(UsageError)
    expect(() => parseArgument(text)).toThrow(cure)
  })

  test("either reads an argument or says what is wrong with it", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (text) => {
        try {
          parseArgument(text)
          return true
        } catch (error) {
          return error instanceof UsageError
        }
      }),
    )
  })
})
