import { describe, expect, it } from "vitest"
import { JSON_FIELD, SCALAR_FIELD, toFormSchema } from "../../../console/src/try/schema/to-form.ts"
import type { JsonRecord, JsonSchema } from "../../../console/src/try/schema/json.ts"

const form = (schema: JsonSchema): JsonRecord => toFormSchema(schema).schema
const property = (schema: JsonSchema, name = "a"): JsonRecord =>
  (
    form({ type: "object", properties: { [name]: schema } })["properties"] as Record<
      string,
      JsonRecord
    >
  )[name] ?? {}

describe("a schema for the form", () => {
  it("keeps what plain fields need", () => {
    const schema = {
      type: "string",
      title: "Name",
      description: "Who",
      examples: ["Ada"],
      maxLength: 9,
    }
    expect(property(schema)).toEqual(schema)
  })

  it("puts references in place, with what stands beside them", () => {
    const root = {
      type: "object",
      properties: { a: { $ref: "#/$defs/a~1b", description: "outer" } },
      $defs: { "a/b": { type: "integer", description: "inner", minimum: 1 } },
    }
    expect(form(root)["properties"]).toEqual({
      a: { type: "integer", description: "outer", minimum: 1 },
    })
  })

  it("cuts a recursive schema, and takes JSON there", () => {
    const root = {
      $ref: "#/$defs/t",
      $defs: { t: { type: "object", properties: { next: { $ref: "#/$defs/t" } } } },
    }
    const { schema } = toFormSchema(root)
    expect(JSON.stringify(schema)).toContain(JSON_FIELD)
    expect(JSON.stringify(schema)).not.toContain("$ref")
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
    ["anything", true],
    ["nothing", false],
  ])("takes JSON for %s", (_, schema) => {
    expect(form(schema)).toMatchObject({ $id: JSON_FIELD })
  })

  it("has required fields first, and none that only the other side sets", () => {
    const { properties } = form({
      type: "object",
      properties: {
        note: { type: "string" },
        id: { type: "string", readOnly: true },
        made: { $ref: "#/$defs/made" },
        name: { type: "string" },
      },
      required: ["id", "name"],
      $defs: { made: { type: "string", readOnly: true } },
    })
    expect(Object.keys(properties as object)).toEqual(["name", "note"])
  })

  it("has one line for texts of moderate length, whatever their format", () => {
    expect(property({ type: "string", maxLength: 5000 })).not.toHaveProperty("format")
    expect(property({ type: "string", maxLength: 65_536 })).toMatchObject({ format: "textarea" })
    expect(property({ type: "string", format: "uuid" })).toEqual({
      type: "string",
      "x-format": "uuid",
    })
  })

  it("stays small, however large the schema is", () => {
    const wide = Object.fromEntries(
      Array.from({ length: 5000 }, (_, at) => [`p${at}`, { type: "string" }]),
    )
    const doubling = {
      $ref: "#/$defs/d0",
      $defs: Object.fromEntries(
        Array.from({ length: 40 }, (_, at) => [
          `d${at}`,
          {
            type: "object",
            properties: { l: { $ref: `#/$defs/d${at + 1}` }, r: { $ref: `#/$defs/d${at + 1}` } },
          },
        ]),
      ),
    }
    const { schema, hidden } = toFormSchema({ type: "object", properties: wide })
    expect(Object.keys(schema["properties"] as object)).toHaveLength(300)
    expect(hidden).toHaveLength(4700)
    expect(JSON.stringify(form(doubling)).length).toBeLessThan(500_000)
  })

  it("turns prefixItems into a list of fixed items", () => {
    const schema = {
      type: "array",
      prefixItems: [{ type: "string" }, { type: "number" }],
      items: { type: "boolean" },
    }
    expect(property(schema)).toEqual({
      type: "array",
      items: [
        { type: "string", default: "" },
        { type: "number", default: 0 },
      ],
      additionalItems: { type: "boolean", default: false },
    })
    expect(property({ ...schema, items: false })).not.toHaveProperty("additionalItems")
  })

  it.each([
    ["a list of types", { type: ["string", "null"], minLength: 1 }],
    ["a union", { anyOf: [{ type: "string", minLength: 1 }, { type: "null" }] }],
    ["a union by reference", { oneOf: [{ type: "null" }, { $ref: "#/$defs/s" }] }],
  ])("knows what can be null from %s", (_, schema) => {
    const root = {
      type: "object",
      properties: { a: schema },
      $defs: { s: { type: "string", minLength: 1 } },
    }
    expect(form(root)["properties"]).toEqual({ a: { type: ["string", "null"], minLength: 1 } })
  })

  it("lists fixed values, and null beside them", () => {
    expect(property({ enum: ["a", "b", null] })).toEqual({
      type: ["string", "null"],
      enum: ["a", "b"],
    })
    expect(property({ oneOf: [{ const: 1 }, { const: 2 }] })).toEqual({
      type: "number",
      enum: [1, 2],
    })
    expect(property({ const: "x" })).toEqual({ type: "string", enum: ["x"], const: "x" })
  })

  it("starts a required fixed value as what it is", () => {
    const schema = { type: "object", required: ["kind"], properties: { kind: { const: "cat" } } }
    expect(form(schema)["properties"]).toMatchObject({ kind: { default: "cat", const: "cat" } })
  })

  it("names the choices of a union", () => {
    const root = {
      oneOf: [
        { type: "object", properties: { kind: { const: "cat" } } },
        { $ref: "#/$defs/Dog" },
        { type: "object", title: "Fish", properties: {} },
        { type: "array", items: { type: "string" } },
        { type: "integer" },
      ],
      $defs: { Dog: { type: "object", properties: { bark: { type: "string" } } } },
    }
    const options = form(root)["oneOf"] as JsonRecord[]
    expect(options.map(({ title }) => title)).toEqual(["cat", "Dog", "Fish", "list", "integer"])
  })

  it("makes a choice of several types", () => {
    const schema = property({ type: ["string", "integer"], description: "Either" })
    expect(schema["description"]).toBe("Either")
    expect(schema["$id"]).toBe(SCALAR_FIELD)
    const mixed = property({ type: ["boolean", "integer"] })
    expect(mixed["anyOf"]).toEqual([
      { type: "boolean", title: "boolean" },
      { type: "integer", title: "integer" },
    ])
  })

  it("puts the parts of allOf together", () => {
    const root = {
      allOf: [
        { type: "object", required: ["a"], properties: { a: { type: "string" } } },
        { required: ["b"], properties: { b: { type: "number" }, a: { description: "Both" } } },
      ],
    }
    expect(form(root)).toEqual({
      type: "object",
      required: ["a", "b"],
      properties: { a: { type: "string", description: "Both" }, b: { type: "number" } },
    })
  })

  it("knows files, long texts and maps", () => {
    expect(property({ type: "string", format: "binary" })["format"]).toBe("file")
    expect(property({ type: "string", contentEncoding: "base64" })["format"]).toBe("file")
    expect(property({ type: "string", contentMediaType: "text/markdown" })["format"]).toBe(
      "textarea",
    )
    expect(property({ type: "string", format: "made-up" })).not.toHaveProperty("format")
    expect(property({ type: "object", additionalProperties: { type: "integer" } })).toMatchObject({
      additionalProperties: { type: "integer", default: 0 },
    })
    expect(property({ type: "object" })).toMatchObject({ $id: JSON_FIELD })
    expect(property({ type: "object", properties: {} })).toEqual({ type: "object", properties: {} })
  })

  it("takes no keyword of a wrong type, and no name that every object has", () => {
    const hostile = {
      type: "object",
      title: { html: "<b>" },
      $id: "ObjectField",
      properties: {
        constructor: { type: "string" },
        ["__proto__"]: { type: "string" },
        ok: { type: "string", minLength: "2", title: [] },
      },
    }
    Object.defineProperty(hostile.properties, "__proto__", {
      value: { type: "string" },
      enumerable: true,
    })
    const { schema, hidden } = toFormSchema(hostile)
    expect(schema).toEqual({ type: "object", properties: { ok: { type: "string" } } })
    expect(hidden.toSorted()).toEqual(["__proto__", "constructor"])
  })

  it("changes nothing of what it is given", () => {
    const schema = Object.freeze({
      type: "object",
      properties: Object.freeze({ a: Object.freeze({ type: "string" }) }),
    })
    expect(() => form(schema)).not.toThrow()
  })
})
