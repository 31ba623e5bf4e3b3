import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { countFilters, parseFilters, searchWith } from "../../../console/src/find/filters.ts"
import type { Filters } from "../../../console/src/find/filters.ts"

describe("filters in an address", () => {
  test("are read as they were written", () => {
    const name = fc.option(fc.string({ minLength: 1, maxLength: 200, unit: "grapheme-ascii" }), {
      nil: undefined,
    })
    const choice = <TValue>(...values: readonly TValue[]): fc.Arbitrary<TValue | undefined> =>
      fc.option(fc.constantFrom(...values), { nil: undefined })
    const filters: fc.Arbitrary<Filters> = fc.record({
      source: name,
      tag: name,
      type: choice("query" as const, "mutation" as const, "subscription" as const),
      access: choice("open" as const, "protected" as const),
      deprecated: choice("hide" as const, "only" as const),
    })
    fc.assert(
      fc.property(filters, (given) => {
        expect(parseFilters(searchWith(given))).toEqual(given)
      }),
    )
  })

  test.each([
    "",
    "?",
    "?type=evil&access=OPEN&deprecated=&source=&tag=",
    `?source=${"x".repeat(201)}`,
    "?__proto__=query&constructor=x&toString=y",
    "?%E0%A4%A&=&&&",
  ])("that are none are ignored: %s", (search) => {
    expect(countFilters(parseFilters(search))).toBe(0)
  })

  test("that are not set leave no query", () => {
    expect(searchWith({})).toBe("")
    expect(searchWith({ source: undefined, type: "query" })).toBe("?type=query")
  })
})
