import { describe, expect, it } from "vitest"
import { scopeOf } from "../../../src/schema/read/resolve-ref.ts"
import { fullSampleOf } from "../../../src/schema/read/sample/sample.ts"
import { fieldOf } from "../../../console/src/try/schema/field.ts"
import { emptyOf, startValue } from "../../../console/src/try/schema/initial.ts"
import { createCheck } from "../../../console/src/try/schema/issues.ts"

const root = {
  type: "object",
  required: ["name", "kind", "place"],
  properties: {
    name: { type: "string", minLength: 6 },
    kind: { const: "cat" },
    size: { type: "integer", default: 3 },
    note: { type: "string", default: null },
    when: { type: "string", format: "date-time", examples: ["2026-02-03T04:05:06Z"] },
    place: { $ref: "#/$defs/place" },
    other: { $ref: "#/$defs/place" },
    id: { type: "string", readOnly: true, default: "x" },
  },
  $defs: {
    place: {
      type: "object",
      required: ["city", "in"],
      properties: {
        city: { type: "string" },
        zip: { type: "string", default: "0" },
        in: { $ref: "#/$defs/place" },
      },
    },
  },
}

describe("the initial value of a form", () => {
  it("is what is required and fixed, and the defaults", () => {
    const value = startValue(root) as Record<string, unknown>
    expect(value).toMatchObject({ kind: "cat", size: 3, place: { zip: "0" } })
    expect(Object.keys(value)).toEqual(["kind", "size", "place"])
  })

  it("is undefined for a value that cannot be guessed", () => {
    expect(startValue({ type: "string" })).toBeUndefined()
    expect(startValue(true)).toBeUndefined()
    expect(startValue({ $ref: "#" })).toBeUndefined()
  })

  it("is an empty object or list where anything may be in it", () => {
    expect(startValue({ type: "object" })).toEqual({})
    expect(startValue({ type: ["array", "null"] })).toEqual([])
  })

  it("takes the first choice of a union", () => {
    const value = startValue({
      oneOf: [
        { type: "object", required: ["k"], properties: { k: { const: 1 } } },
        { type: "string" },
      ],
    })
    expect(value).toEqual({ k: 1 })
  })

  it("takes no value of allOf for an object", () => {
    expect(startValue({ allOf: [{ enum: ["only"] }] })).toBe("only")
  })
})

describe("the example value of a schema", () => {
  it("fits its schema", () => {
    const schema = {
      type: "object",
      required: ["name", "email", "tags", "n", "pair"],
      properties: {
        name: { type: "string", minLength: 10 },
        email: { type: "string", format: "email" },
        tags: { type: "array", minItems: 2, items: { enum: ["a", "b"] } },
        n: { type: "number", exclusiveMinimum: 4 },
        pair: { type: "array", prefixItems: [{ type: "string" }, { type: "boolean" }] },
        when: { type: "string", examples: ["2026-02-03"] },
        where: { type: "string", example: "Bern" },
      },
    }
    const value = fullSampleOf({ schema, scope: scopeOf(schema) })
    expect(createCheck(schema)(value)).toEqual([])
    expect(value).toMatchObject({ when: "2026-02-03", where: "Bern" })
  })

  it("ends for a recursive schema", () => {
    expect(
      JSON.stringify(fullSampleOf({ schema: root, scope: scopeOf(root) })).length,
    ).toBeLessThan(2000)
  })
})

describe("the initial value of a new item", () => {
  it("can be sent", () => {
    expect(emptyOf(fieldOf({ type: "string" }))).toBe("")
    expect(emptyOf(fieldOf({ type: "integer", minimum: 5 }))).toBe(5)
    expect(emptyOf(fieldOf({ enum: ["x", "y"] }))).toBe("x")
    expect(emptyOf(fieldOf({ type: "object", properties: {} }))).toEqual({})
    expect(emptyOf(fieldOf({ type: "null" }))).toBeNull()
  })
})
