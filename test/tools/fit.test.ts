import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { fit, skip } from "../../src/tools/fit.ts"

const items = (count: number, length = 90): { id: number; text: string }[] =>
  Array.from({ length: count }, (_, id) => ({ id, text: "x".repeat(length) }))

describe("a value that is too long", () => {
  test("keeps whole items of a list", () => {
    const { value, cuts } = fit(items(100), 1100)
    expect(value).toEqual(items(100).slice(0, 9))
    expect(cuts).toEqual([{ path: [], kind: "items", to: 9, total: 100 }])
  })

  test("keeps short members, and shortens the longest", () => {
    const { value, cuts } = fit({ total: 100, items: items(100), next: "page=2" }, 1100)
    expect(value).toMatchObject({ total: 100, next: "page=2" })
    expect((value as { items: unknown[] }).items).toEqual(items(100).slice(0, 9))
    expect(cuts).toEqual([{ path: ["items"], kind: "items", to: 9, total: 100 }])
  })

  test("shortens the first item if that alone is too long", () => {
    const { value, cuts } = fit(items(3, 5000), 1000)
    expect(value).toHaveLength(1)
    expect(cuts.map(({ path, kind, total }) => ({ path, kind, total }))).toEqual([
      { path: [], kind: "items", total: 3 },
      { path: ["0", "text"], kind: "characters", total: 5000 },
    ])
  })

  test("keeps the beginning of a text, without half a character", () => {
    for (const room of [50, 51, 52, 53]) {
      const { value } = fit("😀".repeat(100), room)
      expect(String(value)).toMatch(/^(?:😀)+$/u)
    }
  })

  test("keeps the first members of an object with very many", () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`key${at}`, at]))
    const { value, cuts } = fit(many, 500)
    expect(Object.keys(value as object)[0]).toBe("key0")
    expect(cuts).toMatchObject([{ path: [], kind: "members", total: 1000 }])
  })

  test("is cut to the room that there is, and is whole if it fits", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 200, max: 4000 }), (raw, room) => {
        const value: unknown = JSON.parse(JSON.stringify(raw))
        const { value: shown, cuts } = fit(value, room)
        const isShort = JSON.stringify(value).length * 1.1 <= room
        expect(isShort && cuts.length > 0).toBe(false)
        expect(cuts.length === 0 ? shown : value).toEqual(value)
        expect(JSON.stringify(shown).length).toBeLessThanOrEqual(Math.max(room, 200))
      }),
    )
  })

  test("is read to its end by skipping what was shown", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 40 }), { maxLength: 200 }), (list) => {
        const value = { list, total: list.length }
        const read: unknown[] = []
        for (let from = 0; ;) {
          const part = fit(skip(value, ["list"], from), 400).value as { list: unknown[] }
          read.push(...part.list)
          if (read.length >= list.length) break
          expect(part.list.length).toBeGreaterThan(0)
          from = read.length
        }
        expect(read).toEqual(list)
      }),
    )
  })

  test("has no rest at a place that is not there", () => {
    expect(skip({ a: [1] }, ["b"], 1)).toBeUndefined()
    expect(skip({ a: 1 }, ["a", "b"], 1)).toBeUndefined()
    expect(skip(5, [], 1)).toBeUndefined()
  })
})
