import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { toolInput } from "../../../../src/sources/mcp/client/tool-input.ts"
import { thrown } from "../../../support/operations.ts"

const ID = "files.read"

describe("toolInput", () => {
  test("hands plain data on as the same object", () => {
    const input = { a: [1, { b: null }], c: "", d: false }

    expect(toolInput(input, ID)).toBe(input)
  })

  test("takes nothing for an empty object", () => {
    expect(toolInput(undefined, ID)).toEqual({})
  })

  test.each([[null], [0], ["text"], [[1]], [true], [1n]])("refuses %s as a whole", (input) => {
    expect(thrown(() => toolInput(input, ID))).toMatchObject({
      code: "VALIDATION_ERROR",
      operationId: ID,
      retryable: false,
      mayHaveExecuted: false,
    })
  })

  test("drops members that are undefined, and leaves what was given alone", () => {
    const input = { a: undefined, b: { c: undefined, d: 1 }, e: [{ f: undefined }] }

    const out = toolInput(input, ID)

    expect(out).toStrictEqual({ b: { d: 1 }, e: [{}] })
    expect(input).toStrictEqual({ a: undefined, b: { c: undefined, d: 1 }, e: [{ f: undefined }] })
  })

  test("keeps a member called __proto__ as a member", () => {
    const input: unknown = JSON.parse('{"__proto__":{"x":1},"gone":0}')
    Object.assign(input as object, { gone: undefined })

    expect(JSON.stringify(toolInput(input, ID))).toBe('{"__proto__":{"x":1}}')
  })

  const loop: Record<string, unknown> = {}
  loop["a/b"] = [{ loop }]
  const deep = Array.from({ length: 5000 }).reduce<unknown>((inner) => ({ inner }), {})

  test.each([
    [{ a: { b: [0, 1n] } }, "/a/b/1", "a BigInt"],
    [{ when: new Date(0) }, "/when", "toISOString"],
    [{ list: [undefined] }, "/list/0", "undefined"],
    [{ n: Number.NaN }, "/n", "NaN"],
    [{ n: -Infinity }, "/n", "-Infinity"],
    [{ f: () => 1 }, "/f", "a function"],
    [{ s: Symbol("x") }, "/s", "a symbol"],
    [{ m: new Map() }, "/m", "a Map"],
    [{ bytes: new Uint8Array(2) }, "/bytes", "base64"],
    [{ url: new URL("http://a.test") }, "/url", "toJSON"],
    [loop, "/a~1b/0/loop", "contains itself"],
    [{ deep }, `/deep${"/inner".repeat(499)}`, "nested over 500 levels"],
    [
      {
        get bad() {
          throw new Error("boom")
        },
      },
      "/bad",
      "cannot be read: boom",
    ],
  ])("refuses what JSON cannot say, case %#", (input, path, words) => {
    const error = thrown(() => toolInput(input, ID)) as {
      code: string
      details: { errors: { path: string; message: string }[] }
    }

    expect(error.code).toBe("VALIDATION_ERROR")
    const [fault] = error.details.errors
    expect(fault?.path).toBe(path)
    expect(fault?.message).toContain(words)
  })

  test("the same object in two places is no loop", () => {
    const shared = { x: 1 }

    expect(toolInput({ a: shared, b: [shared, shared] }, ID)).toEqual({
      a: { x: 1 },
      b: [{ x: 1 }, { x: 1 }],
    })
  })

  test("says what JSON would have said, for everything that JSON can say", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (input) => {
        expect(JSON.stringify(toolInput(input, ID))).toBe(JSON.stringify(input))
      }),
    )
  })
})
