import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseJson, printJson, toInteger, withNumbers } from "../../../console/src/ui/json-text.ts"

const LARGE = "9007199254740993"

describe("JSON of inputs", () => {
  test("keeps the digits of large integers, both ways", () => {
    const text = `{"id":${LARGE},"ids":[-${LARGE},1],"text":"${LARGE}","ratio":1.5}`
    expect(printJson({ id: 9007199254740993n })).toBe(`{"id":${LARGE}}`)
    expect(printJson(parseJson(text))).toBe(text)
    expect(withNumbers(parseJson(text))).toEqual(JSON.parse(text))
  })

  test("is that of the platform for everything else", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(printJson(value, 2)).toBe(JSON.stringify(value, null, 2))
        expect(parseJson(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)))
        expect(withNumbers(value)).toBe(value)
      }),
    )
    expect(printJson(undefined)).toBeUndefined()
    expect(() => parseJson("{")).toThrow(SyntaxError)
  })

  test("reads integers as numbers where those keep them", () => {
    expect([toInteger("12"), toInteger("9007199254740992"), toInteger(LARGE)]).toEqual([
      12,
      9007199254740992,
      9007199254740993n,
    ])
  })
})
