import { describe, expect, test } from "vitest"
import type { JsonSchema } from "../../../src/schema/json.ts"
import { itemsOf, objectProperties, typesOf } from "../../../src/schema/read/properties.ts"

function types(schema: JsonSchema): string[] {
  return [...typesOf(schema, schema)]
}

function items(schema: JsonSchema): JsonSchema | undefined {
  return itemsOf(schema, schema)
}

describe("typesOf", () => {
  test.each<[JsonSchema, string[]]>([
    [{}, []],
    [{ type: "void" }, []],
    [{ type: "integer" }, ["number"]],
    [{ type: ["integer", "null"] }, ["number", "null"]],
    [{ const: null }, ["null"]],
    [{ const: [] }, ["array"]],
    [{ const: undefined, properties: {} }, ["undefined"]],
    [{ enum: [1, "a", null, {}, [1]] }, ["number", "string", "null", "object", "array"]],
    [{ properties: {} }, ["object"]],
    [{ properties: [] }, []],
    [{ anyOf: [{ type: "string" }, { type: "void" }, { type: "number" }] }, ["string", "number"]],
    [{ anyOf: [{ type: "string" }, {}] }, []],
    [{ anyOf: [{ type: "string" }, true] }, []],
    [{ anyOf: [{}], oneOf: [{ type: "boolean" }] }, ["boolean"]],
    [{ allOf: [true, {}, { type: "array" }, { type: "string" }] }, ["array"]],
    [{ allOf: [true, {}] }, []],
    [{ $ref: "#/$defs/a", $defs: { a: { type: "string" } } }, ["string"]],
    [{ $ref: "#/$defs/a", properties: {}, $defs: { a: {} } }, ["object"]],
    [{ $ref: "a", $defs: { x: true, y: { $id: "a", type: "string" } } }, ["string"]],
    [{ $ref: "b", $defs: { y: { $id: "a", type: "string" } } }, []],
    [{ $ref: "b" }, []],
    [{ $ref: 1 }, []],
    [{ $ref: "#" }, []],
  ])("%j", (schema, expected) => {
    expect(types(schema)).toEqual(expected)
  })
})

describe("itemsOf", () => {
  const strings = { type: "array", items: { type: "string" } }

  test.each<[JsonSchema, JsonSchema | undefined]>([
    [strings, { type: "string" }],
    [{ ...strings, prefixItems: [{}] }, undefined],
    [{ type: "array", items: true }, undefined],
    [{ $ref: "#/$defs/a", $defs: { a: strings } }, { type: "string" }],
    [{ $ref: "#/$defs/b", $defs: { a: strings } }, undefined],
    [{ $ref: "#" }, undefined],
    [{ anyOf: [{ type: "null" }, true, strings] }, { type: "string" }],
    [{ oneOf: [strings, { type: "number" }] }, { type: "string" }],
    [{ anyOf: [strings, { type: "array", items: {} }] }, undefined],
    [{ anyOf: [{ type: "null" }] }, undefined],
    [{ anyOf: [] }, undefined],
  ])("%j", (schema, expected) => {
    expect(items(schema)).toEqual(expected)
  })
})

describe("objectProperties", () => {
  test("gathers from all parts, and asks only for what every alternative asks for", () => {
    const { properties, required, rest } = objectProperties({
      properties: { a: { type: "string" }, b: true },
      required: ["a"],
      allOf: [{ properties: { a: { type: "string" } }, required: ["b"] }, true],
      anyOf: [
        { properties: { c: { type: "string" } }, required: ["c", "d"] },
        { properties: { c: { type: "number" } }, required: ["c"] },
      ],
      oneOf: [],
      $ref: "#/$defs/more",
      $defs: { more: { required: ["e"], additionalProperties: { type: "null" } } },
    })
    expect(Object.fromEntries(properties)).toEqual({
      a: { type: "string" },
      b: {},
      c: { anyOf: [{ type: "string" }, { type: "number" }] },
    })
    expect([...required].sort()).toEqual(["a", "b", "c", "e"])
    expect(rest).toEqual({ type: "null" })
  })

  test("knows nothing of what says nothing", () => {
    expect(objectProperties({ required: "a", allOf: {}, anyOf: "x" })).toEqual({
      properties: new Map(),
      required: new Set(),
      rest: {},
    })
    expect(objectProperties({ anyOf: [true, { required: ["a"] }] }).required.size).toBe(0)
  })

  test("ends for a schema that is a part of itself", () => {
    const schema = {
      $ref: "#",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: { type: "number" },
    }
    const { properties, required, rest } = objectProperties(schema)
    expect([...properties]).toEqual([["a", { type: "string" }]])
    expect([...required]).toEqual(["a"])
    expect(rest).toEqual({ type: "number" })
  })

  test("other names may be one of several", () => {
    const { rest } = objectProperties({
      oneOf: [{ additionalProperties: { type: "null" } }, { additionalProperties: {} }],
    })
    expect(rest).toEqual({ anyOf: [{ type: "null" }, {}] })
  })
})
