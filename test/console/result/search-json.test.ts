import { describe, expect, test } from "vitest"
import { searchJson } from "../../../console/src/result/search-json.ts"

const DATA = {
  people: [
    { name: "Ada", city: "London" },
    { name: "Grace", city: "New York" },
  ],
  total: 2,
  large: 9007199254740993n,
}

describe("searchJson", () => {
  test("finds names and values in any case, and what holds them", () => {
    const found = searchJson(DATA, " LONDON ")
    expect(found?.count).toBe(1)
    expect(found?.holds(DATA)).toBe(true)
    expect(found?.holds(DATA.people[0])).toBe(true)
    expect(found?.holds(DATA.people[1])).toBe(false)
    expect(found?.isMatch({ key: "city", value: "London" }, {})).toBe(true)
    expect(searchJson(DATA, "name")?.count).toBe(2)
    expect(searchJson(DATA, "9007199254740993")?.count).toBe(1)
  })

  test.each([
    ["", undefined],
    ["  ", undefined],
    ["nowhere", 0],
    ["true", 0],
  ])("finds for %j: %j", (text, count) => {
    expect(searchJson(DATA, text)?.count).toBe(count)
  })

  test("does not take the places of items for names", () => {
    expect(searchJson([10, 20, 30], "2")?.count).toBe(1)
  })

  test("takes values that are no objects, and members of odd names", () => {
    expect(searchJson("a text", "text")?.count).toBe(1)
    expect(searchJson(null, "null")?.count).toBe(1)
    expect(searchJson(undefined, "x")?.count).toBe(0)
    expect(searchJson([true, null], "true")?.count).toBe(1)
    expect(searchJson(JSON.parse('{"__proto__":{"a":"deep"}}'), "deep")?.count).toBe(1)
  })

  test("ends on values that refer to themselves, are deep or huge", () => {
    const circular: Record<string, unknown> = { a: "here" }
    circular["self"] = circular
    expect(searchJson(circular, "here")?.count).toBe(1)
    let deep: unknown = "here"
    for (let level = 0; level < 100_000; level++) deep = [deep]
    expect(searchJson(deep, "here")?.count).toBe(1)
    const huge = Array.from({ length: 600_000 }, (_, at) => at)
    expect(searchJson(huge, "599999")).toMatchObject({ count: 0, isCut: true })
  })
})
