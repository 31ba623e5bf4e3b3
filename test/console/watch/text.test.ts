import { describe, expect, test } from "vitest"
import { printShort } from "../../../src/internal/print-short.ts"
import { weigh } from "../../../src/internal/weigh.ts"
import { clockText } from "../../../console/src/ui/format.ts"

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

describe("printShort", () => {
  test.each([
    [1, "1"],
    ["a\nb", '"a\\nb"'],
    [101.34999999999999, "101.35"],
    [-1 / 3, "-0.3333333333"],
    [9007199254740991, "9007199254740991"],
    [null, "null"],
    [undefined, "undefined"],
    [[], "[]"],
    [{}, "{}"],
    [{ a: [1, { b: true }] }, '{"a": [1, {"b": true}]}'],
    [JSON.parse('{"__proto__": 1}'), '{"__proto__": 1}'],
  ])("prints %j", (value, text) => {
    expect(printShort(value, 100)).toBe(text)
  })

  test("keeps the digits of large integers", () => {
    expect(printShort({ id: 9007199254740993n }, 100)).toBe('{"id": 9007199254740993}')
  })

  test("never prints more than it may, and shows that there is more", () => {
    const values = [
      "x".repeat(1000),
      Array.from({ length: 1000 }, () => 12),
      { ["k".repeat(90)]: 1 },
    ]
    for (const value of values) {
      const text = printShort(value, 50)
      expect(text.length).toBeLessThanOrEqual(50)
      expect(text).toMatch(/…$/)
    }
  })

  test("does not cut a character in half", () => {
    for (let limit = 2; limit < 12; limit++) {
      expect(() => encodeURIComponent(printShort("😀😀😀😀😀", limit))).not.toThrow()
    }
  })

  test("prints what is deeper than the stack", () => {
    expect(printShort(nested(100_000), 200)).toContain("…")
  })

  test("looks at no more than it prints", () => {
    let read = 0
    const item = Object.defineProperty({}, "a", { enumerable: true, get: () => ++read })

    printShort(
      Array.from({ length: 10_000 }, () => item),
      40,
    )

    expect(read).toBeLessThan(20)
  })
})

describe("weigh", () => {
  test("grows with texts, names and numbers of parts", () => {
    expect(weigh("x".repeat(1000), 1e6)).toBeGreaterThanOrEqual(1000)
    expect(
      weigh(
        Array.from({ length: 500 }, () => 1),
        1e6,
      ),
    ).toBeGreaterThan(500)
    expect(weigh({ a: 1 }, 1e6)).toBeLessThan(20)
  })

  test("counts neither bytes nor what is inherited, and no more members than it has to", () => {
    expect(weigh(new Uint8Array(5_000_000), 1e6)).toBe(4)
    expect(weigh(Object.create({ inherited: "x".repeat(100) }), 1e6)).toBe(4)
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, at]))
    expect(weigh(many, 100)).toBe(100)
    expect(weigh(Array.from({ length: 5000 }), 100)).toBe(100)
  })

  test("ends at its limit, and does not mind depth", () => {
    expect(weigh("x".repeat(1000), 100)).toBe(100)
    expect(weigh(nested(100_000), 1e9)).toBeGreaterThan(100_000)
  })
})

test("clockText has milliseconds", () => {
  expect(clockText(1_800_000_000_007)).toMatch(/^\d\d:\d\d:\d\d\.007$/)
})
