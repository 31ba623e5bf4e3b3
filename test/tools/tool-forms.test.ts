import { describe, expect, test } from "vitest"
import { inputForm, outputForm } from "../../src/tools/tool-forms.ts"

describe("the form of a tool", () => {
  test("takes an input that may be left out, and gives nothing where it was", () => {
    const form = inputForm({ anyOf: [{ type: "object" }, { type: "undefined" }] })

    expect(form.schema).not.toHaveProperty("required")
    expect(form.toInput({ input: { a: 1 } })).toEqual({ a: 1 })
    expect(form.toInput({})).toBeUndefined()
  })

  test("promises no result where there may be none, or more is said than is read", () => {
    const text = { type: "string" }

    expect(outputForm({ type: "void" }, false)).toBeUndefined()
    expect(outputForm({ type: "null" }, false)).toBeUndefined()
    expect(outputForm({ anyOf: [text, { type: "undefined" }] }, false)).toBeUndefined()
    expect(outputForm({ description: "Anything." }, false)).toBeUndefined()
    expect(outputForm({ ...text, description: "x".repeat(100) }, false, 50)).toBeUndefined()
  })

  test("puts results into an object only for those who know nothing else", () => {
    const text = { type: "string" }

    expect(outputForm(text, false)).toEqual({ schema: text, isWrapped: false })
    expect(outputForm(text, true)).toEqual({
      schema: { type: "object", properties: { result: text }, required: ["result"] },
      isWrapped: true,
    })
    expect(outputForm({ type: "object" }, true)).toEqual({
      schema: { type: "object" },
      isWrapped: false,
    })
  })
})
