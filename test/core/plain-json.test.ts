import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { encodeValue } from "../../src/core/envelope-codec.ts"
import { isPlainJson } from "../../src/core/plain-json.ts"

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = { value }
  return value
}

/** Refers to itself in many places: whoever follows each of them never ends. */
const cyclic: Record<string, unknown> = {}
for (let at = 0; at < 50; at++) cyclic[`c${at}`] = [cyclic]

const shared = { a: 1 }

describe("isPlainJson", () => {
  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a symbol", Symbol("s")],
    ["what is used twice", { left: shared, right: [shared, shared] }],
    ["a date", { at: new Date(0) }],
    ["an own toJSON", { toJSON: () => 7, big: 1n }],
    ["a key called __proto__", JSON.parse('{"__proto__": {"a": [1]}}')],
    ["an array with holes", Object.assign([], { 1: { a: 1 } })],
    ["a Map, which JSON has no form for either", new Map([[1, 1n]])],
    ["512 levels", nested(512)],
  ])("takes %s", (_, value) => {
    expect(isPlainJson(value)).toBe(true)
    expect(encodeValue(value)).toEqual({ value, binary: undefined })
  })

  test.each<[string, unknown]>([
    ["a function", () => 1],
    ["a bigint", 1n],
    ["a bigint inside", { a: [{ b: 1n }] }],
    ["bytes", new Uint8Array(1)],
    ["bytes inside", [[{ a: new ArrayBuffer(1) }]]],
    ["a Blob", { file: new Blob([]) }],
    ["a file that is not the platform's", { stream() {}, arrayBuffer() {}, type: "" }],
    ["a cycle", cyclic],
    ["513 levels", nested(513)],
    [
      "a getter that throws",
      {
        get a(): never {
          throw new Error("no")
        },
      },
    ],
  ])("does not take %s", (_, value) => {
    expect(isPlainJson(value)).toBe(false)
  })

  test("accepts any parsed JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(isPlainJson(value)).toBe(true)
      }),
    )
  })
})
