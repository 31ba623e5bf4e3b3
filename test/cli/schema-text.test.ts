import { describe, expect, test } from "vitest"
import { nestedPropertiesOf, propertiesOf, typeText } from "../../src/cli/schema-text.ts"

describe("typeText", () => {
  test.each<[unknown, string]>([
    [{ type: "string" }, "string"],
    [{ type: "string", format: "date" }, "string (date)"],
    [{ type: ["integer", "null"] }, "integer | null"],
    [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
    [{ const: "x" }, '"x"'],
    [{ type: "array", items: { type: "string" } }, "string[]"],
    [{ type: "array", items: { enum: ["a", "b"] } }, '("a" | "b")[]'],
    [{ type: "array" }, "array"],
    [{ anyOf: [{ type: "string" }, { type: "number" }, { type: "string" }] }, "string | number"],
    [{ properties: {} }, "object"],
    [{ type: "object", additionalProperties: { type: "integer" } }, "map of integer"],
    [{ type: "array", prefixItems: [{ type: "string" }, { const: 1 }] }, "[string, 1]"],
    [{ $ref: "#/$defs/A", $defs: { A: { type: "boolean" } } }, "boolean"],
    [{ $ref: "#/$defs/a~1b", $defs: { "a/b": { type: "boolean" } } }, "boolean"],
    [{ $ref: "#/$defs/missing" }, "anything"],
    [{ $ref: "#" }, "anything"],
    [{ $ref: "#/__proto__/x" }, "anything"],
    [
      { enum: Array.from({ length: 20 }, (_, at) => at) },
      "0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | … 12 more",
    ],
    [{}, "anything"],
    [true, "anything"],
    [false, "nothing"],
    [undefined, "anything"],
    ["x", "anything"],
  ])("%j is %s", (schema, text) => {
    expect(typeText(schema)).toBe(text)
  })

  test("ends for a schema that contains itself", () => {
    const list = { type: "array", items: { $ref: "#" } }

    expect(typeText(list)).toBe("…[][][][]")
  })
})

describe("propertiesOf", () => {
  test("gives the required ones first, with what is said of them", () => {
    const schema = {
      type: "object",
      required: ["b"],
      properties: {
        a: { type: "integer", default: 3, description: " How many " },
        b: { $ref: "#/$defs/B", description: "Own words" },
        c: { deprecated: true },
      },
      $defs: { B: { type: "string", description: "Words of the definition" } },
    }

    expect(propertiesOf(schema)).toMatchObject([
      { name: "b", isRequired: true, type: "string", text: "Own words" },
      { name: "a", isRequired: false, type: "integer", text: "How many (default: 3)" },
      { name: "c", isRequired: false, type: "anything", text: "(deprecated)" },
    ])
  })

  test("looks into allOf, and deeper where it is asked to, also into lists", () => {
    const line = { type: "object", properties: { sku: { type: "string" } } }
    const customer = { type: "object", properties: { name: {} } }
    const lines = { type: "array", items: line }
    const properties = { title: {}, customer, lines }
    const body = { type: "object", required: ["title"], properties }
    const schema = { allOf: [{ properties: { body } }, { required: ["body"] }] }

    expect(propertiesOf(schema)).toMatchObject([{ name: "body", isRequired: true }])
    expect(nestedPropertiesOf(schema)).toMatchObject([
      { name: "body" },
      { name: "body.title", isRequired: true },
      { name: "body.customer" },
      { name: "body.customer.name" },
      { name: "body.lines" },
      { name: "body.lines[].sku" },
    ])
  })

  test("ends for a schema that contains itself, or has very many properties", () => {
    const own = { type: "object", properties: { next: { $ref: "#" } } }
    expect(nestedPropertiesOf(own)).toHaveLength(6)
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`p${at}`, {}]))
    expect(nestedPropertiesOf({ type: "object", properties: many })).toHaveLength(500)
  })

  test("a name such as __proto__ is a name", () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as unknown

    expect(propertiesOf(schema)).toMatchObject([{ name: "__proto__", type: "string" }])
  })

  test.each([[{ type: "string" }], [true], [undefined], [{}]])("%j has none", (schema) => {
    expect(propertiesOf(schema)).toBeUndefined()
  })
})
