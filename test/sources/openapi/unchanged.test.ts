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

describe("schemas that need no change", () => {
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
    expect(walked(schema, "input")).toBe(schema)
    expect(walked(schema, "output")).toBe(schema)
    expect(isUnchanged(schema, false)).toBe(true)
  })

  test.each([
    ["bytes by their format", { type: "string", format: "binary" }],
    ["bytes by their type", { type: "file" }],
    ["bytes by their content", { type: "string", contentMediaType: "application/octet-stream" }],
    ["base64", { type: "string", format: "byte" }],
    ["null", { ...text, nullable: true }],
    ["a flag of old drafts", { ...text, required: true }],
    ["an exclusive union", { oneOf: [text, { type: "integer" }] }],
    ["a wrong limit", { type: "string", maxLength: -1 }],
    ["a large extension", { ...text, "x-order": { first: 1 } }],
    ["an example", { ...text, example: "a" }],
    ["a part", { type: "array", items: { anyOf: [{ ...text, nullable: true }] } }],
  ])("a walk changes them: %s", (_name, schema) => {
    expect(walked(schema, "input")).not.toBe(schema)
    expect(isUnchanged(schema, false)).toBe(false)
  })

  test("properties that may be hidden are always walked", () => {
    expect(isUnchanged({ properties: { a: text } }, true)).toBe(false)
  })
})
