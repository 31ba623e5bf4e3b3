import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { readJsonc } from "../../src/internal/jsonc.ts"
import { parseErrorOf } from "../support/parse-error.ts"
import { runs } from "../support/nightly.ts"

const CANARY = "canary-77-secret"

describe("readJsonc", () => {
  test("reads what JSON.stringify writes, also with comments in between", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const expected: unknown = JSON.parse(text)
        expect(readJsonc(text).value).toEqual(expected)
        expect(readJsonc(text.replaceAll("\n", ' // , ] " }\n')).value).toEqual(expected)
        expect(readJsonc(`/* " */${text}/**/`).value).toEqual(expected)
      }),
    )
  })

  test("agrees with JSON.parse about what is none", () => {
    const characters = Array.from('{}[]",:1e.-+ tru\\nl')
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...characters) }), (text) => {
        // Ours lets a comma at the end of a list pass, and refuses a name that is there twice.
        fc.pre(!/,\s*[}\]]/.test(text) && !/:[^]*:/.test(text))
        expect(outcomeOf(() => readJsonc(text).value)).toEqual(
          outcomeOf(() => JSON.parse(text) as unknown),
        )
      }),
      { numRuns: runs(400) },
    )
  })

  test("comments, commas at the end and a byte order mark are fine", () => {
    const text = `\uFEFF// a\n{ /* "x": 1 */ "a": ["// no", 1,], }\n// end`

    expect(readJsonc(text).value).toEqual({ a: ["// no", 1] })
  })

  test("knows where everything is, and the nearest place of what is missing", () => {
    const { where } = readJsonc(`{\n  "a": {\n    "b": [1,\n      {"c": 2}]\n  }\n}`)

    expect(where(["a"])).toEqual({ line: 2, column: 3 })
    expect(where(["a", "b", "1", "c"])).toEqual({ line: 4, column: 8 })
    expect(where(["a", "b", "1", "no", "no"])).toEqual({ line: 4, column: 7 })
    expect(where([])).toEqual({ line: 1, column: 1 })
  })

  test.each([
    ['["//", "/* */", ",]"]', ["//", "/* */", ",]"]],
    ['["\\"//",]', ['"//']],
    ["[1, /* x */ ]", [1]],
    ["/*/ still */ 1", 1],
  ])("%s is %j", (text, value) => {
    expect(readJsonc(text).value).toEqual(value)
  })

  test("keeps __proto__ a name", () => {
    expect(Object.keys(readJsonc(`{"__proto__": 1}`).value as object)).toEqual(["__proto__"])
  })

  test.each([
    ["", undefined, "is empty"],
    [`{"a": 1\n "b": 2}`, 2, `needs "," or "}"`],
    [`{"a" 1}`, 1, `needs ":"`],
    [`{\na: 1}`, 2, "in quotation marks"],
    [`{"a": b}`, 1, "needs a value"],
    [`{"a": "${CANARY}\n"}`, 1, "does not end on its line"],
    [`{"a": "${CANARY}\\x"}`, 1, "wrong backslash"],
    [`{"a": 1,\n\n"a": 2}`, 3, "a name twice"],
    [`{} ${CANARY}`, 1, "after its end"],
    ["/* ", 1, "a comment that does not end"],
    ["[".repeat(300), 1, "nested deeper"],
    ["[1, [2", 1, `needs "," or "]"`],
    ["[1,,2]", 1, "needs a value"],
    ["[,]", 1, "needs a value"],
  ])("%j is refused with its line", (text, line, message) => {
    const fault = parseErrorOf(() => readJsonc(text))

    expect(fault.message).toContain(message)
    expect(fault.place?.line).toBe(line)
    expect(fault.message).not.toContain(CANARY)
  })
})

/** What came of reading; nothing more than that it failed, if it did. */
function outcomeOf(read: () => unknown): unknown {
  try {
    return { value: read() }
  } catch {
    return "failed"
  }
}
