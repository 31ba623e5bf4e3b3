import { describe, expect, test } from "vitest"
import { diffOf, diffText } from "../../../../src/sources/mcp/definition-diff.ts"

describe("the places in which definitions differ", () => {
  test("are reported as far inside as they can be", () => {
    expect(
      diffOf(
        { a: { b: [1, 2], c: "same" }, gone: true, "x/y": null },
        { a: { b: [1, 3, 4], c: "same" }, new: {}, "x/y": 0 },
      ),
    ).toEqual([
      { path: "/a/b/1", before: "2", after: "3" },
      { path: "/a/b/2", before: undefined, after: "4" },
      { path: "/gone", before: "true", after: undefined },
      { path: "/x~1y", before: "null", after: "0" },
      { path: "/new", before: undefined, after: "{}" },
    ])
  })

  test("are the whole where one is a list and the other an object", () => {
    expect(diffOf([1], { 0: 1 })).toEqual([{ path: "", before: "[1]", after: '{"0":1}' }])
    expect(diffOf({ a: 1 }, { a: 1 })).toEqual([])
  })

  test("are at most twenty", () => {
    const before = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`k${at}`, at]))
    expect(diffOf(before, {})).toHaveLength(20)
  })

  test("are looked for only so deep, and then reported as a whole", () => {
    const nested = (value: unknown): unknown => {
      let out = value
      for (let depth = 0; depth < 70; depth++) out = { a: out }
      return out
    }

    expect(diffOf(nested(1), nested(1))).toEqual([])
    const [change] = diffOf(nested(1), nested(2))
    expect(change?.path).toBe("/a".repeat(64))
    expect(change?.after).toBe('{"a":{"a":{"a":{"a":{"a":{"a":2}}}}}}')
  })

  test("are shown with what is around them, wherever in a long text they are", () => {
    const long = "x".repeat(1000)
    const [atEnd] = diffOf(`${long}a`, `${long}b`)
    const [atStart] = diffOf(`a${long}`, `b${long}`)
    const [inside] = diffOf(`${long}a${long}`, `${long}b${long}`)

    expect(atEnd?.after).toMatch(/^…x+b"$/)
    expect(atStart?.after).toMatch(/^"bx+…$/)
    expect(inside?.after).toMatch(/^…x+bx+…$/)
    expect(inside?.after).toHaveLength(402)
  })
})

describe("in words", () => {
  test("a difference says what was and what is", () => {
    expect(diffText(diffOf({ a: 1 }, { a: 2 }))).toBe("/a was 1, is 2")
    expect(diffText(diffOf({}, { a: 2 }))).toBe("/a is new: 2")
    expect(diffText(diffOf({ a: 1 }, {}))).toBe("/a is gone: 1")
    expect(diffText(diffOf(1, 2))).toBe("the whole value was 1, is 2")
    expect(diffText([])).toBe("")
  })

  test("three are shown, cut to a size, and the others counted", () => {
    const text = diffText(diffOf({}, { a: "x".repeat(300), b: 1, c: 2, d: 3, e: 4 }))

    expect(text).toContain(`/a is new: "${"x".repeat(159)}…; /b is new: 1; /c is new: 2`)
    expect(text).toMatch(/; and 2 more$/)
  })
})
