import { describe, expect, test } from "vitest"
import { asObject, movedTo, plainSchema } from "../../../src/schema/read/plain-schema.ts"

describe("a schema as plain JSON", () => {
  test("is an object, also where it was a boolean", () => {
    expect(plainSchema(false)).toEqual({ not: {} })
    expect(plainSchema(true)).toEqual({})
  })

  test("has no types that JSON does not have, and requires nothing twice", () => {
    expect(
      plainSchema({
        type: "object",
        properties: { a: { type: "bigint", title: "A" }, b: { type: ["string", "null"] } },
        required: ["a", "a", "b"],
      }),
    ).toEqual({
      type: "object",
      properties: { a: { title: "A" }, b: { type: ["string", "null"] } },
      required: ["a", "b"],
    })
  })

  test("has no alternative that is nothing at all", () => {
    const nothing = { type: "undefined" }
    const text = { type: "string" }

    expect(plainSchema({ anyOf: [text, nothing], title: "T" })).toEqual({ ...text, title: "T" })
    expect(plainSchema({ anyOf: [nothing, { type: "void" }], title: "T" })).toEqual({ title: "T" })
    expect(plainSchema({ anyOf: [text, nothing, true] })).toEqual({ anyOf: [text, true] })
    expect(plainSchema({ anyOf: [nothing, true] })).toEqual({ anyOf: [true] })
  })

  test("is walked wherever schemas are, and nowhere else", () => {
    const odd = { type: "bigint" }
    expect(
      plainSchema({
        $defs: { d: odd },
        dependencies: { a: ["b"], c: odd },
        items: [odd],
        not: odd,
        contains: true,
        allOf: "odd",
        properties: "odd",
        enum: [odd],
        const: odd,
      }),
    ).toEqual({
      $defs: { d: {} },
      dependencies: { a: ["b"], c: {} },
      items: [{}],
      not: {},
      contains: true,
      allOf: "odd",
      properties: "odd",
      enum: [odd],
      const: odd,
    })
  })
})

describe("an object at the root", () => {
  test.each<[string, Record<string, unknown>]>([
    ["by a reference to the whole of it", { $ref: "#/$defs/a", $defs: { a: { type: "object" } } }],
    ["by an id", { $ref: "Node", $defs: { n: { $id: "Node", type: "object" } } }],
    ["by one part of what holds together", { allOf: [{ minProperties: 1 }, { type: "object" }] }],
    ["by all alternatives", { anyOf: [{ type: "object" }, { oneOf: [{ type: "object" }] }] }],
    ["by alternatives beside a reference", { $ref: "Gone", oneOf: [{ type: "object" }] }],
  ])("is seen %s", (_, schema) => {
    expect(asObject(schema)).toEqual({ type: "object", ...schema })
  })

  test.each<[string, Record<string, unknown>]>([
    ["a reference that leads nowhere", { $ref: "Gone" }],
    ["a reference to something else", { $ref: "#/$defs/a", $defs: { a: { type: "string" } } }],
    ["a name that nobody has", { $ref: "Node", $defs: { a: true, b: { $id: "Other" } } }],
    ["a schema that is only itself", { $ref: "#" }],
    ["parts that are none", { allOf: [{ minLength: 1 }] }],
    ["alternatives that are not all objects", { anyOf: [{ type: "object" }, true] }],
    ["no alternatives", { anyOf: [], oneOf: [] }],
    ["several types", { type: ["object", "null"] }],
  ])("is not made of %s", (_, schema) => {
    expect(asObject(schema)).toBeUndefined()
  })

  test("is made of what says nothing, whatever its words", () => {
    expect(asObject({ title: "T", "x-own": 1 })).toEqual({ title: "T", "x-own": 1, type: "object" })
  })
})

describe("a schema in another place", () => {
  test("has its pointers lead there, but those of other documents", () => {
    expect(
      movedTo("/properties/input", {
        properties: {
          whole: { $ref: "#" },
          part: { $ref: "#/$defs/a" },
          anchor: { $ref: "#a" },
          other: { $id: "other", $ref: "#/$defs/a" },
        },
      }),
    ).toEqual({
      properties: {
        whole: { $ref: "#/properties/input" },
        part: { $ref: "#/properties/input/$defs/a" },
        anchor: { $ref: "#a" },
        other: { $id: "other", $ref: "#/$defs/a" },
      },
    })
  })

  test("is left alone when it is a document of its own", () => {
    const own = { $id: "own", $ref: "#/$defs/a" }
    expect(movedTo("/x", own)).toBe(own)
  })
})
