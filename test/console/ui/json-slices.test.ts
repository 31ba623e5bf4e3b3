import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseInSlices } from "../../../console/src/ui/json-slices.ts"
import { parseJson } from "../../../console/src/ui/json-text.ts"
import { runs } from "../../support/nightly.ts"

/** What parsing gives, or that it fails. */
async function outcomeOf(parse: () => unknown): Promise<unknown> {
  try {
    return { value: await parse() }
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError)
    return "broken"
  }
}

async function expectSame(text: string, slice: number): Promise<void> {
  const whole = await outcomeOf(() => parseJson(text))
  expect(await outcomeOf(() => parseInSlices(text, slice))).toEqual(whole)
}

describe("JSON in slices", () => {
  test("is the same as in one piece", async () => {
    const json = fc.json({ maxDepth: 5 })
    const slice = fc.integer({ min: 1, max: 40 })
    await fc.assert(
      fc.asyncProperty(json, slice, fc.boolean(), async (text, at, isPretty) => {
        await expectSame(isPretty ? JSON.stringify(JSON.parse(text), null, 2) : text, at)
      }),
      { numRuns: runs(100) },
    )
  })

  test("is broken where it is broken in one piece", async () => {
    const char = fc.constantFrom(...'[]{},:"\\ 1x'.split(""))
    const place = fc.nat()
    await fc.assert(
      fc.asyncProperty(fc.json(), place, char, fc.boolean(), async (text, at, put, isMore) => {
        const from = at % (text.length + 1)
        await expectSame(text.slice(0, from) + put + text.slice(from + (isMore ? 0 : 1)), 3)
      }),
      { numRuns: runs(200) },
    )
  })

  test.each([
    '{"__proto__":{"a":1},"b":"\\"","c":[1,2,3],"b":"last"}',
    '[9007199254740993,"9007199254740993",{"id":-9007199254740993}]',
    '"a text that is longer than a slice, with 9007199254740993 in it"',
    "[1,2,3,]",
    "[1,2,3,,4]",
    '{"a":1,"b":2,}',
    '{1:[1,2,3,4],"b":2}',
    '{"a":[1,2,3,4]}}',
    "[1,2,3,4}",
    '["\\\\","\\"","]"]',
    "",
    " ",
    "[",
    '["',
    "123456789",
  ])("of %j is the same, for every size of slices", async (text) => {
    for (let slice = 1; slice < 12; slice++) await expectSame(text, slice)
  })

  test("may be nested as deep as the platform allows", async () => {
    const text = "[".repeat(1500) + "]".repeat(1500)
    expect(JSON.stringify(await parseInSlices(text, 10))).toBe(text)
  })

  test("has an own property of each name", async () => {
    const value = await parseInSlices('{"__proto__":{"polluted":[1,2,3]},"a":1}', 4)
    expect(Object.keys(value as object)).toEqual(["__proto__", "a"])
    expect(Reflect.get({}, "polluted")).toBe(undefined)
  })
})
