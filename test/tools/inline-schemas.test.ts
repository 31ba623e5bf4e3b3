import { describe, expect, test } from "vitest"
import { inlined } from "../../src/tools/inline-schemas.ts"

/** What becomes of one property. */
function property(schema: unknown, $defs: Record<string, unknown> = {}): unknown {
  const { properties } = inlined({ $defs, properties: { a: schema } })
  return (properties as Record<string, unknown>)["a"]
}

describe("references", () => {
  test("are found by pointer, by id and by anchor", () => {
    const $defs = {
      byPointer: { type: "string" },
      byId: { $id: "Node", type: "number" },
      byAnchor: { $anchor: "here", type: "boolean" },
      flag: true,
    }

    expect(property({ $ref: "#/$defs/byPointer" }, $defs)).toEqual({ type: "string" })
    expect(property({ $ref: "Node" }, $defs)).toEqual({ type: "number" })
    expect(property({ $ref: "#here" }, $defs)).toEqual({ type: "boolean" })
  })

  test("that lead nowhere leave what stands beside them", () => {
    expect(property({ $ref: "#/$defs/none", title: "A" })).toEqual({ title: "A" })
    expect(property({ $ref: "#none", title: "A" }, { one: { $anchor: "other" } })).toEqual({
      title: "A",
    })
    expect(property({ $ref: "https://x.example/a.json", type: "string" })).toEqual({
      type: "string",
    })
    expect(inlined({ type: "object", properties: { a: { $ref: "Gone" } } })).toEqual({
      type: "object",
      properties: { a: {} },
    })
  })

  test("give way to the words beside them, and hold together with the rest", () => {
    const $defs = { name: { type: "string", description: "A name", maxLength: 9 } }
    const $ref = "#/$defs/name"

    expect(property({ $ref, description: "Yours" }, $defs)).toEqual({
      type: "string",
      description: "Yours",
      maxLength: 9,
    })
    expect(property({ $ref, maxLength: 5 }, $defs)).toEqual({
      maxLength: 5,
      allOf: [{ type: "string", description: "A name", maxLength: 9 }],
    })
    expect(property({ $ref, maxLength: 5, allOf: [{ minLength: 2 }] }, $defs)).toEqual({
      maxLength: 5,
      allOf: [{ minLength: 2 }, { type: "string", description: "A name", maxLength: 9 }],
    })
  })

  test("to a schema inside itself end with its type and its words", () => {
    const $defs = {
      list: {
        type: "array",
        title: "List",
        items: { anyOf: [{ type: "string" }, { $ref: "#/$defs/list", description: "Deeper" }] },
      },
      any: { properties: { next: { $ref: "#/$defs/any" } } },
    }

    expect(property({ $ref: "#/$defs/list" }, $defs)).toEqual({
      type: "array",
      title: "List",
      items: {
        anyOf: [
          { type: "string" },
          { type: "array", items: {}, title: "List", description: "Deeper" },
        ],
      },
    })
    expect(property({ $ref: "#/$defs/any" }, $defs)).toEqual({ properties: { next: {} } })
    expect(inlined({ type: "object", properties: { again: { $ref: "#" } } })).toMatchObject({
      properties: { again: { properties: { again: { type: "object" } } } },
    })
  })
})

describe("lists", () => {
  test("by position say so in words, after the words they have", () => {
    const places = [{ type: "string" }, true]

    expect(property({ prefixItems: places, description: "A pair." })).toEqual({
      items: { anyOf: [{ type: "string" }, {}] },
      description: "A pair. One item for each of these, in this order.",
    })
    expect(property({ prefixItems: places, items: { type: "number" } })).toMatchObject({
      items: { anyOf: [{ type: "string" }, {}, { type: "number" }] },
    })
    expect(property({ prefixItems: [], items: true })).toMatchObject({ items: { anyOf: [{}] } })
  })

  test("of anything have items, and positions that are no list are left out", () => {
    expect(property({ type: "array" })).toEqual({ type: "array", items: {} })
    expect(property({ type: "array", prefixItems: "odd" })).toEqual({ type: "array", items: {} })
    expect(property({ type: "array", items: { type: "string" } })).toEqual({
      type: "array",
      items: { type: "string" },
    })
  })
})

describe("other keywords", () => {
  test("keep what is data, and drop what only references need", () => {
    expect(
      property({
        $id: "x",
        $comment: "no",
        unevaluatedProperties: false,
        enum: [{ $ref: "#/$defs/none" }, true],
        default: { $ref: "#" },
        "x-own": { $ref: "#" },
      }),
    ).toEqual({
      enum: [{ $ref: "#/$defs/none" }, true],
      default: { $ref: "#" },
      "x-own": { $ref: "#" },
    })
  })

  test("have schemas where there were booleans, and nothing for what must not be there", () => {
    expect(
      inlined({
        properties: { none: false, any: true, odd: "text" },
        patternProperties: { "^x": false },
        additionalProperties: true,
        not: false,
        anyOf: [true, { type: "string" }],
        dependentSchemas: "odd",
        oneOf: "odd",
      }),
    ).toEqual({
      properties: { any: {}, odd: "text" },
      patternProperties: { "^x": { not: {} } },
      additionalProperties: true,
      not: { not: {} },
      anyOf: [{}, { type: "string" }],
      dependentSchemas: "odd",
      oneOf: "odd",
    })
    expect(inlined({ additionalProperties: { $ref: "#/$defs/s" }, $defs: { s: {} } })).toEqual({
      additionalProperties: {},
    })
  })

  test("past a thousand schemas are only outlined", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 1100 }, (_, at) => [
        `p${at}`,
        { type: "array", items: { type: "string" }, title: "T", minItems: 1 },
      ]),
    )

    const out = inlined({ properties })["properties"] as Record<string, unknown>

    expect(out["p0"]).toEqual({
      type: "array",
      items: { type: "string" },
      title: "T",
      minItems: 1,
    })
    expect(out["p1099"]).toEqual({ type: "array", items: {}, title: "T" })
  })
})
