import { describe, expect, it } from "vitest"
import { fieldOf } from "../../../console/src/try/schema/field.ts"
import type { Field } from "../../../console/src/try/schema/field.ts"
import type { JsonSchema } from "../../../console/src/try/schema/json.ts"
import { optionFor, unseenIn } from "../../../console/src/try/schema/match.ts"
import { toPointer } from "../../../console/src/try/schema/pointer.ts"

/** The field of a property. */
function property(schema: JsonSchema, name = "a"): Field {
  const field = fieldOf({ type: "object", properties: { [name]: schema } }).property(name)
  if (field === undefined) throw new Error("no such property")
  return field
}

const text = { type: "string" }

describe("a field of the form", () => {
  it("knows what its schema says", () => {
    const schema = { ...text, title: "Name", description: "Who", maxLength: 9 }
    const { kind, facts } = property(schema)
    expect(kind).toBe("text")
    expect(facts).toMatchObject({ title: "Name", description: "Who" })
    expect(facts.constraints).toEqual(["at most 9 characters"])
  })

  it("follows references, and what stands beside them counts more", () => {
    const root = {
      type: "object",
      properties: { a: { $ref: "#/$defs/a~1b", description: "outer" } },
      $defs: { "a/b": { type: "integer", description: "inner", minimum: 1 } },
    }
    const field = fieldOf(root).property("a")
    expect(field?.kind).toBe("number")
    expect(field?.facts.description).toBe("outer")
    expect(field?.number("minimum")).toBe(1)
  })

  it("is read when it is drawn: a recursive schema has fields at any depth", () => {
    const root = {
      $ref: "#/$defs/t",
      $defs: { t: { type: "object", properties: { next: { $ref: "#/$defs/t" } } } },
    }
    let field: Field | undefined = fieldOf(root)
    for (let depth = 0; depth < 50; depth++) field = field?.property("next")
    expect(field?.kind).toBe("object")
  })

  it.each([
    ["a reference to itself", { $ref: "#" }],
    [
      "two that refer to each other",
      { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    ],
    [
      "a union of itself",
      { $ref: "#/$defs/a", $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }, { type: "null" }] } } },
    ],
    ["parts of itself", { allOf: [{ $ref: "#" }] }],
    ["a reference to elsewhere", { $ref: "https://example.com/schema" }],
    ["an object without names", { type: "object" }],
    ["a list of anything", { type: "array", items: {} }],
    ["six types", { type: ["string", "number", "integer", "boolean", "object", "array"] }],
    ["anything", true],
    ["nothing", false],
  ])("takes JSON for %s", (_, schema) => {
    expect(fieldOf(schema).kind).toBe("json")
  })

  it("has required names first, and none that the other side sets unless it must be given", () => {
    const field = fieldOf({
      type: "object",
      properties: {
        note: text,
        id: { ...text, readOnly: true },
        made: { $ref: "#/$defs/made" },
        name: text,
      },
      required: ["id", "name"],
      $defs: { made: { ...text, readOnly: true } },
    })
    expect(field.names).toEqual(["id", "name", "note"])
  })

  it("has items by their place, and others after them", () => {
    const schema = {
      type: "array",
      prefixItems: [text, { type: "number" }],
      items: { type: "boolean" },
    }
    const field = property(schema)
    expect([field.fixed, ...[0, 1, 2, 9].map((at) => field.item(at)?.kind)]).toEqual([
      ...[2, "text", "number", "boolean", "boolean"],
    ])
    expect(property({ ...schema, items: false }).item(2)).toBeUndefined()
  })

  it.each([
    ["a list of types", { type: ["string", "null"], minLength: 1 }],
    ["a union", { anyOf: [{ ...text, minLength: 1 }, { type: "null" }] }],
    ["a union by reference", { oneOf: [{ type: "null" }, { $ref: "#/$defs/s" }] }],
  ])("knows what can be null from %s", (_, schema) => {
    const field = fieldOf({
      type: "object",
      properties: { a: schema },
      $defs: { s: { ...text, minLength: 1 } },
    }).property("a")
    expect([field?.kind, field?.isNullable, field?.number("minLength")]).toEqual(["text", true, 1])
  })

  it("lists fixed values with their titles, and null beside them", () => {
    const values = (schema: JsonSchema): unknown => property(schema).values
    expect(values({ enum: ["a", "b", null] })).toEqual([{ value: "a" }, { value: "b" }])
    expect(property({ enum: ["a", "b", null] }).isNullable).toBe(true)
    expect(values({ oneOf: [{ const: 1 }, { const: 2, title: "Two" }] })).toEqual([
      { value: 1 },
      { value: 2, title: "Two" },
    ])
    expect([property({ const: "x" }).kind, property({ const: "x" }).constant]).toEqual([
      ...["values", "x"],
    ])
    const some = { type: "array", uniqueItems: true, items: { enum: ["a", "b"] } }
    expect(property(some).kind).toBe("several")
  })

  it("names the choices of a union", () => {
    const root = {
      oneOf: [
        { type: "object", properties: { kind: { const: "cat" } } },
        { $ref: "#/$defs/Dog" },
        { type: "object", title: "Fish", properties: {} },
        { type: "array", items: text },
        { type: "integer" },
        { type: "object", properties: { a: text, b: text, c: text } },
        { type: "integer" },
      ],
      $defs: { Dog: { type: "object", properties: { bark: text } } },
    }
    expect(fieldOf(root).options.map(({ title }) => title)).toEqual([
      ...["cat", "Dog", "Fish", "list", "integer (5)", "with a, b", "integer (7)"],
    ])
  })

  it("adds what stands beside a union to each choice", () => {
    const field = fieldOf({
      type: "object",
      properties: { name: text },
      oneOf: [{ properties: { a: text } }, { properties: { b: text } }],
    })
    expect(field.kind).toBe("choice")
    expect(field.options.map((option) => option.field.names)).toEqual([
      ["name", "a"],
      ["name", "b"],
    ])
  })

  it("takes names that a union requires for no choice", () => {
    const field = fieldOf({
      type: "object",
      properties: { a: text, b: text },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    })
    expect(field.kind).toBe("object")
  })

  it("makes a choice of several types, and one field of texts and numbers", () => {
    const either = property({ type: ["string", "integer"], description: "Either" })
    expect([either.kind, either.types]).toEqual(["scalar", ["string", "integer"]])
    const union = property({ anyOf: [text, { type: "number" }] })
    expect([union.kind, union.types]).toEqual(["scalar", ["string", "number"]])
    const mixed = property({ type: ["boolean", "integer"] })
    expect(mixed.options.map(({ title, field }) => [title, field.kind])).toEqual([
      ["boolean", "boolean"],
      ["integer", "number"],
    ])
  })

  it("puts the parts of allOf together", () => {
    const field = fieldOf({
      allOf: [
        { type: "object", required: ["a"], properties: { a: text } },
        { required: ["b"], properties: { b: { type: "number" }, a: { description: "Both" } } },
      ],
    })
    expect([...field.required]).toEqual(["a", "b"])
    expect(field.names.map((name) => field.property(name)?.kind)).toEqual(["text", "number"])
    expect(field.property("a")?.facts.description).toBe("Both")
  })

  it("knows maps, and objects without fields", () => {
    const map = property({ type: "object", additionalProperties: { type: "integer" } })
    expect([map.kind, map.rest?.kind]).toEqual(["object", "number"])
    const pattern = property({ type: "object", patternProperties: { "^x": text } })
    expect(pattern.rest?.kind).toBe("text")
    expect(property({ type: "object", properties: {} }).kind).toBe("object")
    expect(property({ type: "object", additionalProperties: false }).kind).toBe("object")
  })

  it("adds what conditions say, for the value at hand", () => {
    const field = fieldOf({
      type: "object",
      properties: { a: text, card: text },
      if: { properties: { a: { const: "x" } }, required: ["a"] },
      then: {
        properties: { b: text },
        if: { required: ["b"] },
        then: { properties: { deep: text } },
      },
      else: { properties: { c: text } },
      dependentSchemas: { card: { properties: { address: text } } },
      dependentRequired: { card: ["a"] },
    })
    expect(field.under({ a: "x" }).names).toEqual(["a", "card", "b"])
    expect(field.under({ a: "x", b: "" }).names).toEqual(["a", "card", "b", "deep"])
    expect(field.under(undefined).names).toEqual(["a", "card", "c"])
    const withCard = field.under({ card: "1" })
    expect(withCard.names).toEqual(["a", "card", "c", "address"])
    expect([...withCard.required]).toEqual(["a"])
    const never = { type: "object", if: { $ref: "#/$defs/x" }, then: { properties: { a: text } } }
    expect(fieldOf(never).under({}).names).toEqual([])
  })

  it("takes no keyword of a wrong type, and any name", () => {
    const properties = JSON.parse(
      '{"constructor":{"type":"string"},"__proto__":{"type":"number"},"ok":{"type":"string","minLength":"2","title":[]}}',
    ) as object
    const field = fieldOf({ type: "object", title: { html: "<b>" }, $id: "x", properties })
    expect(field.facts.title).toBeUndefined()
    expect(field.names).toEqual(["constructor", "__proto__", "ok"])
    expect(field.property("__proto__")?.kind).toBe("number")
    expect(field.property("toString")).toBeUndefined()
    expect(field.property("ok")?.facts).toMatchObject({ title: undefined, constraints: [] })
  })

  it("changes nothing of what it is given", () => {
    const schema = Object.freeze({
      type: "object",
      properties: Object.freeze({ a: Object.freeze({ type: "string" }) }),
    })
    expect(() => fieldOf(schema).under({}).names).not.toThrow()
  })
})

const closed = { type: "object", properties: { a: text } }
const shape = {
  oneOf: [
    { type: "object", properties: { kind: { const: "circle" }, radius: { type: "number" } } },
    { type: "object", properties: { kind: { const: "square" }, side: { type: "number" } } },
  ],
}
const tuple = { type: "array", prefixItems: [text, closed], items: false }

describe("the option of a choice", () => {
  const field = fieldOf({ oneOf: [...shape.oneOf, text, { type: "array", items: text }] })

  it.each([
    [{ kind: "square" }, 1],
    [{ side: 1 }, 1],
    [{ kind: "circle", side: 1 }, 0],
    ["x", 2],
    [[], 3],
    [undefined, 0],
  ])("for %j is the one that fits best", (value, expected) => {
    expect(optionFor(field, value)).toBe(expected)
  })

  it("is the one that was picked, unless the value is of another", () => {
    expect(optionFor(field, {}, 1)).toBe(1)
    expect(optionFor(field, { side: "no number yet" }, 1)).toBe(1)
    expect(optionFor(field, { kind: "circle" }, 1)).toBe(0)
    expect(optionFor(field, "x", 1)).toBe(2)
  })
})

it.each([
  ["drawn", closed, { a: "x" }, []],
  ["undeclared", closed, { a: "x", b: { c: 1 } }, ["/b"]],
  ["inside a text field", closed, { a: { b: 1 } }, ["/a/b"]],
  ["read-only", { properties: { a: { ...text, readOnly: true } } }, { a: "x" }, ["/a"]],
  [
    "nested",
    { properties: { list: { type: "array", items: closed } } },
    { list: [{ b: 1 }] },
    ["/list/0/b"],
  ],
  ["of a tuple", { properties: { t: tuple } }, { t: ["x", { b: 1 }, 3] }, ["/t/1/b", "/t/2"]],
  [
    "of a map",
    { type: "object", additionalProperties: closed },
    { any: { a: "x", b: 1 } },
    ["/any/b"],
  ],
  ["of any value", { properties: { any: {} } }, { any: { b: 1 } }, []],
  ["of the chosen option", { properties: { shape } }, { shape: { kind: "square", side: 2 } }, []],
  [
    "of another option",
    { properties: { shape } },
    { shape: { kind: "square", side: 2, radius: 1 } },
    ["/shape/radius"],
  ],
  [
    "of a condition",
    { ...closed, if: { required: ["a"] }, then: { properties: { b: text } } },
    { a: "x", b: "y", c: 1 },
    ["/c"],
  ],
  ["of a fixed value", { properties: { k: { const: 1 } } }, { k: 2 }, ["/k"]],
])("fields %s are named if the form does not draw them", (_kind, schema, value, expected) => {
  expect(unseenIn(fieldOf(schema), value).map(toPointer)).toEqual(expected)
})
