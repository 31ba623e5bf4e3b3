import { describe, expect, test } from "vitest"
import { listed, quote, reasonOf, typeName } from "../../src/internal/message-text.ts"
import { isRecord } from "../../src/internal/guards.ts"
import {
  childPointer,
  deepFreeze,
  getOwn,
  isSchema,
  pointerTokens,
  setOwn,
} from "../../src/schema/json.ts"

describe("plain data", () => {
  test("isRecord takes objects, not null or lists", () => {
    expect([{}, Object.create(null)].every(isRecord)).toBe(true)
    expect([null, [], 1, "x", undefined].some(isRecord)).toBe(false)
    expect(isSchema(true)).toBe(true)
  })

  test("setOwn defines __proto__ as data", () => {
    const target = {}
    setOwn(target, "__proto__", 1)
    setOwn(target, "a", 2)
    expect(Object.getPrototypeOf(target)).toBe(Object.prototype)
    expect(Object.entries(target)).toEqual([
      ["__proto__", 1],
      ["a", 2],
    ])
  })

  test("getOwn does not find what is inherited", () => {
    expect(getOwn({}, "toString")).toBeUndefined()
    expect(getOwn({ a: 1 }, "a")).toBe(1)
  })

  test("pointers escape and unescape", () => {
    expect(childPointer("/a", "b/c~d")).toBe("/a/b~1c~0d")
    expect(pointerTokens("/a/b~1c~0d/0")).toEqual(["a", "b/c~d", "0"])
    expect(pointerTokens("")).toEqual([])
    expect(pointerTokens("name")).toBeUndefined()
  })

  test("deepFreeze reaches everything once", () => {
    const value = { a: [{ b: 1 }], n: null }
    deepFreeze(value)
    expect(Object.isFrozen(value.a[0])).toBe(true)
    expect(() => deepFreeze(value)).not.toThrow()
  })
})

describe("quote", () => {
  test.each([
    ["a", '"a"'],
    [1, "1"],
    [10n, "10n"],
    [null, "null"],
    [undefined, "undefined"],
    [Symbol("s"), "Symbol(s)"],
    [() => 1, "a function"],
    [[1, { a: "b" }], '[1,{"a":"b"}]'],
    [{ a: { b: { c: { d: {} } } } }, '{"a":{"b":{"c":{"d":{…}}}}}'],
    [[[[[[]]]]], "[[[[[…]]]]]"],
  ])("%o", (value, text) => {
    expect(quote(value)).toBe(text)
  })

  test("cuts at 80 characters, and does not walk the rest", () => {
    expect(quote("x".repeat(1000))).toHaveLength(80)
    expect(quote(Array.from({ length: 1e6 }, () => "item")).length).toBeLessThanOrEqual(80)
    expect(
      quote(Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`key${i}`, i]))),
    ).toHaveLength(80)
  })

  test("never throws", () => {
    const cyclic: Record<string, unknown> = {}
    cyclic["self"] = cyclic
    expect(quote(cyclic)).toContain("{…}")
    const trap = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no")
        },
      },
    )
    expect(quote(trap)).toBe("an object that cannot be read")
  })
})

test("typeName, listed and reasonOf speak plainly", () => {
  expect([null, [], {}, 1, Number.NaN, "s"].map(typeName)).toEqual([
    "null",
    "array",
    "object",
    "number",
    "NaN",
    "string",
  ])
  expect([listed([]), listed(["a"]), listed(["a", "b", "c"])]).toEqual(["", "a", "a, b or c"])
  expect(reasonOf(new Error("why"))).toBe("why")
  expect(reasonOf("text")).toBe('"text"')
  const hostile = new Error("x")
  Object.defineProperty(hostile, "message", {
    get: () => {
      throw new Error("no")
    },
  })
  expect(reasonOf(hostile)).toBe("unknown reason")
})
