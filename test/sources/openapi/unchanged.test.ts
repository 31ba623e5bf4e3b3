import { describe, expect, test } from "vitest"
import { OpenAPIDocument } from "../../../src/sources/openapi/document.ts"
import { Walk } from "../../../src/sources/openapi/schema/convert.ts"
import { SchemaStore } from "../../../src/sources/openapi/schema/store.ts"

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
  })
})
