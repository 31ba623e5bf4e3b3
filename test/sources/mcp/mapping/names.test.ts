import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { compileSchema } from "../../../../src/schema/compiled.ts"
import { OperationSpecSchema } from "../../../../src/core/spec-schemas.ts"
import {
  distinctNames,
  isNamespace,
  isOperationName,
  operationName,
  suggestedNamespace,
} from "../../../../src/mcp/names.ts"

const { properties } = OperationSpecSchema as unknown as {
  properties: Record<"name" | "namespace", object>
}
const names = compileSchema(properties.name)
const namespaces = compileSchema(properties.namespace)
const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.stringMatching(/^[a-c.\-_ /]{0,8}$/),
)

describe("names", () => {
  test("keep to the rules of the registry", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(isOperationName(text)).toBe(names.check(text))
        expect(isNamespace(text)).toBe(namespaces.check(text))
        expect(names.check(operationName(text))).toBe(true)
        expect(namespaces.check(suggestedNamespace(text))).toBe(true)
      }),
    )
  })

  test.each(["read_file", "a.b.c", "__proto__", "constructor", "A-1", "x".repeat(256)])(
    "%s stays as it is",
    (name) => {
      expect(operationName(name)).toBe(name)
    },
  )

  test.each([
    ["read file", /^read_file-[0-9a-f]{6}$/],
    ["a/b", /^a_b-[0-9a-f]{6}$/],
    [".a..b.", /^a__b_-[0-9a-f]{6}$/],
    ["größe", /^gr__e-[0-9a-f]{6}$/],
    ["工具", /^__-[0-9a-f]{6}$/],
    ["---", /^_[0-9a-f]{6}$/],
    ["x y".repeat(200), /^[xy_]{100}-[0-9a-f]{6}$/],
  ])("%s is made legal, the same each time", (name, shape) => {
    expect(operationName(name)).toMatch(shape)
    expect(operationName(name)).toBe(operationName(name))
  })

  test("what becomes equal is kept apart", () => {
    expect(operationName("a b")).not.toBe(operationName("a/b"))
  })

  test("equal names are told apart by what they stand for, in any order", () => {
    const things = [
      { name: "log", key: "file:///a.log" },
      { name: "log", key: "file:///b.log" },
      { name: "notes", key: "file:///n" },
    ]

    const [first, second, third] = distinctNames(things)

    expect(new Set([first, second]).size).toBe(2)
    expect(third).toBe("notes")
    expect(distinctNames(things.toReversed())).toEqual([third, second, first])
  })
})
