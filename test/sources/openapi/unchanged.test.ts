import { describe, expect, test } from "vitest"
import { OpenAPIDocument } from "../../../src/sources/openapi/document.ts"
import { Walk } from "../../../src/sources/openapi/schema/convert.ts"
import { SchemaStore } from "../../../src/sources/openapi/schema/store.ts"
import { isUnchanged } from "../../../src/sources/openapi/schema/unchanged.ts"

const text = { type: "string", maxLength: 10 }

/** What a walk makes of a schema where nothing is hidden. */
function walked(schema: unknown, view: "input" | "output"): unknown {
  const document = new OpenAPIDocument({ openapi: "3.0.3" }, { hidesProperties: false })
  const walk = new Walk(new SchemaStore(document), view, document.entry, "", undefined, 1000)
  return walk.schema(schema, false)
}

describe("schemas that are taken over without a walk", () => {
  test.each([
    ["text", text],
    ["object", { type: "object", properties: { a: text, b: { type: "integer" } } }],
    ["required", { type: "object", properties: { a: text }, required: ["a"] }],
    ["closed", { type: "object", properties: {}, additionalProperties: false }],
    ["map", { type: "object", additionalProperties: text }],
    ["union", { anyOf: [text, { type: "object", additionalProperties: text }] }],
    ["nested", { type: "array", items: { type: "object", properties: { a: { anyOf: [text] } } } }],
    ["extension", { ...text, "x-order": 1 }],
  ])("a walk gives them back as they are: %s", (_name, schema) => {
    expect(isUnchanged(schema, false)).toBe(true)
    expect(walked(schema, "input")).toBe(schema)
    expect(walked(schema, "output")).toBe(schema)
  })

  test.each([
    ["nullable", { type: "object", properties: { a: { ...text, nullable: true } } }],
    ["x-nullable", { ...text, "x-nullable": false }],
    ["bytes", { anyOf: [{ type: "string", format: "binary" }, text] }],
    ["large extension", { ...text, "x-more": {} }],
    ["malformed properties", { properties: [] }],
    ["malformed property", { properties: { a: 1 } }],
    ["malformed names", { type: "object", required: ["a", 1] }],
    ["no names", { type: "object", required: [] }],
    ["empty union", { anyOf: [] }],
    ["discriminator", { anyOf: [text], discriminator: { propertyName: "a" } }],
    ["choice", { oneOf: [text] }],
    ["reference", { properties: { a: { $ref: "#/components/schemas/A" } } }],
    ["example", { properties: { a: { ...text, example: "x" } } }],
  ])("others are walked: %s", (_name, schema) => {
    expect(isUnchanged(schema, false)).toBe(false)
  })

  test("properties are walked where one may be hidden", () => {
    expect(isUnchanged({ properties: { a: text } }, true)).toBe(false)
    expect(isUnchanged(text, true)).toBe(true)
  })

  test("large and deep schemas are walked, where they have limits", () => {
    const entries = Array.from({ length: 2000 }, (_, index) => [`p${index}`, text])
    expect(isUnchanged({ properties: Object.fromEntries(entries) as object }, false)).toBe(false)
    let deep: object = text
    for (let depth = 0; depth < 100; depth++) deep = { type: "array", items: deep }
    expect(isUnchanged(deep, false)).toBe(false)
  })
})
