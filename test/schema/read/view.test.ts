import { describe, expect, test } from "vitest"
import { alternativesOf, flatten } from "../../../src/schema/read/flatten.ts"
import { scopeOf } from "../../../src/schema/read/resolve-ref.ts"
import { viewOf as view } from "../../../src/schema/read/view.ts"

describe("types", () => {
  test.each<[unknown, readonly string[]]>([
    [{ type: "void" }, []],
    [{ type: ["string", "null"] }, ["string", "null"]],
    [{ const: null }, ["null"]],
    [{ enum: [1, "a", [2]] }, ["number", "string", "array"]],
    [{ required: ["a"] }, ["object"]],
    [{ properties: {} }, ["object"]],
    [{ items: {} }, ["array"]],
    [{ prefixItems: [] }, ["array"]],
    [{ anyOf: [{ type: "string" }, {}] }, []],
    [{ anyOf: [{ type: "string" }, true] }, []],
    [{ anyOf: [{ type: "string" }, false] }, ["string"]],
    [{ type: "string", anyOf: [] }, ["string"]],
    [{ anyOf: [{ type: "string" }, { type: "void" }, { type: "number" }] }, ["string", "number"]],
    [{ anyOf: [{ type: "object" }, { type: "null" }] }, ["object", "null"]],
    [{ anyOf: [{ type: "null" }] }, ["null"]],
    [{ anyOf: [{}], oneOf: [{ type: "boolean" }] }, ["boolean"]],
    [{ allOf: [true, {}, { type: "number" }, { type: "integer" }] }, ["integer"]],
    [{ allOf: [true, {}] }, []],
    [{ $ref: "#/$defs/a", properties: {}, $defs: { a: {} } }, ["object"]],
    [{ oneOf: "nonsense", allOf: 3, $ref: 4, type: "string" }, ["string"]],
    [undefined, []],
    ["nonsense", []],
  ])("%j", (schema, types) => {
    expect([...view(schema).types]).toEqual(types)
  })
})

describe("references", () => {
  const $defs = {
    byPlace: { type: "string" },
    "a/b c": { type: "integer" },
    other: { $id: "https://x.test/it", type: "boolean" },
    named: { $anchor: "here", type: "null" },
    bad: 7,
  }
  test.each<[string, readonly string[]]>([
    ["#/$defs/byPlace", ["string"]],
    ["#/$defs/a~1b%20c", ["integer"]],
    ["https://x.test/it", ["boolean"]],
    ["#here", ["null"]],
    ["byPlace", ["string"]],
    ["#/$defs/%zz", []],
    ["#/$defs/byPlace/type/deeper", []],
    ["#/$defs/bad", []],
    ["nowhere", []],
    ["#/__proto__/x", []],
  ])("%s", ($ref, types) => {
    const root = { $defs, properties: { at: { $ref } } }
    expect([...(view(root).declared("at")?.types ?? ["missing"])]).toEqual(types)
  })

  test("one that leads to itself ends", () => {
    expect(view({ $ref: "#" }).types.size).toBe(0)
    expect(view({ $ref: "#", type: "object" }).types.has("object")).toBe(true)
    expect(view({ $ref: "x" }, "no root").types.size).toBe(0)
  })
})

test("a product of unions does not grow without end", () => {
  const anyOf = Array.from({ length: 100 }, (_, at) => ({ const: at }))
  const all = { allOf: [{ anyOf }, { anyOf }, { anyOf }] }
  expect(view(all).isUnion).toBe(true)
  expect(alternativesOf(flatten([{ schema: all, scope: scopeOf(all) }]))).toHaveLength(64)
})

test("the only values that are allowed", () => {
  expect(view({ anyOf: [{ const: 1 }, { enum: [1, 2] }, { type: "null" }] }).values).toEqual([
    1,
    2,
    null,
  ])
  expect(view({ type: "boolean" }).values).toEqual([true, false])
  expect(view({ anyOf: [{ const: 1 }, { type: "string" }] }).values).toBeUndefined()
})

test("bytes, texts and defaults are found behind references", () => {
  const schema = {
    $ref: "#/$defs/it",
    $defs: { it: { format: "binary", description: "Its own", default: null } },
  }
  expect(view(schema).isBinary).toBe(true)
  expect(view(schema).text("description")).toBe("Its own")
  expect(view({ ...schema, description: "Nearer" }).text("description")).toBe("Nearer")
  expect(view({ title: 3 }).text("title")).toBeUndefined()
  expect(view(schema).default).toEqual({ value: null })
  expect(view({}).default).toBeUndefined()
})

test("required is what every object needs", () => {
  const anyOf = [{ required: ["a", "b"] }, { required: ["b"], type: "object" }, { type: "null" }]
  expect(view({ anyOf }).required).toEqual(["b"])
  expect(view({ anyOf: [{ required: ["a"] }, {}] }).required).toEqual([])
  expect(view({ type: "string", required: ["a"] }).required).toEqual([])
  expect(view({ required: "a", properties: 3 }).names).toEqual([])
})

test("properties of both sides are both needed, whatever they are called", () => {
  const both = view({
    allOf: [
      JSON.parse('{"properties":{"__proto__":{"type":"string"},"a":{"minLength":1}}}'),
      { properties: { a: { type: "string" } }, required: ["a"] },
    ],
  })
  expect(both.names.toSorted()).toEqual(["__proto__", "a"])
  expect([...(both.declared("__proto__")?.types ?? [])]).toEqual(["string"])
  expect([...(both.declared("a")?.types ?? [])]).toEqual(["string"])
  expect(both.declared("a")?.isUnion).toBe(false)
  expect(both.declared("toString")).toBeUndefined()
})

test("names that are not declared", () => {
  expect([...view({ additionalProperties: { type: "string" } }).property("x").types]).toEqual([
    "string",
  ])
  expect(view({ additionalProperties: true }).rest?.types.size).toBe(0)
  expect(view({ additionalProperties: false }).rest).toBeUndefined()
  const either = view({
    patternProperties: { "^a": { type: "string" }, "^b": { type: "integer" } },
  })
  expect([...(either.rest?.types ?? [])]).toEqual(["string", "integer"])
  expect(view({}).property("x").types.size).toBe(0)
})

test("items by their place, then by the rest", () => {
  const list = view({ prefixItems: [{ type: "string" }, true], items: { type: "integer" } })
  expect([...list.item(0).types]).toEqual(["string"])
  expect([...list.item(1).types]).toEqual(["integer"])
  expect([...list.item(9).types]).toEqual(["integer"])
  expect(view({ items: false }).item(0).types.size).toBe(0)
  const either = view({ anyOf: [{ items: { type: "null" } }, { items: { type: "string" } }] })
  expect([...either.item(0).types]).toEqual(["null", "string"])
})

test("what lies beside a union is no union", () => {
  const anyOf = [{ required: ["a"] }, { required: ["b"] }]
  const beside = view({ properties: { a: { type: "object", properties: {} } }, anyOf })
  expect(beside.isUnion).toBe(true)
  expect(beside.declared("a")?.isUnion).toBe(false)
  expect(view({ anyOf: [{ type: "object" }, { type: "null" }] }).isUnion).toBe(true)
})
