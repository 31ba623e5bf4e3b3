import { Validator } from "@cfworker/json-schema"
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { NO_VALUE } from "../../../src/schema/json.ts"
import { importOne, oneOperation, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const A = { type: "object", properties: { a: { type: "integer" } } }
const B = { type: "object", properties: { b: { type: "integer" } } }

function json(schema: unknown): Raw {
  return { description: "", content: { "application/json": { schema } } }
}

function outputOf(responses: Raw, more: Raw = {}, method = "get"): Raw {
  const spec = { ...oneOperation("/x", method, { responses }), ...more }
  return importOne(spec).outputSchema as unknown as Raw
}

describe("the output of an operation is that of its success", () => {
  test.each<[string, Raw, Raw]>([
    ["200", { 200: json(A), 404: json(B) }, A],
    ["201", { 201: json(A), default: json(B) }, A],
    ["any 2xx", { 206: json(A), 400: json(B) }, A],
    ["2XX", { "2XX": json(A), "4XX": json(B) }, A],
    ["2xx in small letters", { "2xx": json(A) }, A],
    ["default, where it is all there is", { default: json(A) }, A],
    ["default, beside failures", { default: json(A), 404: json(B) }, A],
    ["the same twice", { 200: json(A), 201: json(A) }, A],
    ["a number as a code", { 200: json({ type: "string" }) }, { type: "string" }],
    ["+json", { 200: { content: { "application/hal+json": { schema: A } } } }, A],
    ["json with a parameter", { 200: { content: { "application/json;v=1": { schema: A } } } }, A],
    ["any type", { 200: { content: { "*/*": { schema: A } } } }, A],
    [
      "JSON before others",
      { 200: { content: { "application/xml": { schema: B }, "application/json": { schema: A } } } },
      A,
    ],
    [
      "text",
      { 200: { content: { "text/csv": { schema: { type: "string" } } } } },
      { type: "string" },
    ],
    ["XML, as text", { 200: { content: { "application/xml": {} } } }, { type: "string" }],
    ["bytes", { 200: { content: { "application/pdf": {} } } }, { format: "binary" }],
    ["bytes of any image", { 200: { content: { "image/*": {} } } }, { format: "binary" }],
    ["nothing said about content", { 200: { description: "" } }, {}],
    ["JSON without a schema", { 200: { content: { "application/json": {} } } }, {}],
    ["no success at all", { 302: { description: "" } }, {}],
    ["no responses", {}, {}],
    ["204", { 204: { description: "" } }, NO_VALUE],
    ["205", { 205: { description: "" } }, NO_VALUE],
  ])("%s", (_what, responses, expected) => {
    expect(outputOf(responses)).toEqual(expected)
  })

  test("a union where several differ", () => {
    const output = outputOf({ 200: json(A), 202: json(B) })
    const { check } = { check: (value: unknown) => compileSchema(output).check(value) }

    expect(output).toEqual({ anyOf: [A, B] })
    expect(check({ a: 1 })).toBe(true)
    expect(check(5)).toBe(false)
  })

  test("a union with nothing where one of them has no content", () => {
    const output = outputOf({ 200: json(A), 204: { description: "" } })

    expect(compileSchema(output).check(undefined)).toBe(true)
    expect(compileSchema(output).check({ a: 1 })).toBe(true)
    expect(compileSchema(output).check({ a: "x" })).toBe(false)
  })

  test("that is empty is valid JSON Schema, which undefined fits and no JSON value does", () => {
    const output = outputOf({ 204: { description: "" } })
    const independent = new Validator(structuredClone(output))

    expect(JSON.stringify(output)).not.toContain("void")
    for (const value of [null, false, 0, "", [], {}]) {
      expect(independent.validate(value).valid).toBe(false)
      expect(compileSchema(output).check(value)).toBe(false)
    }
    expect(compileSchema(output).check(undefined)).toBe(true)
  })

  test("nothing for HEAD", () => {
    expect(outputOf({ 200: json(A) }, {}, "head")).toEqual(NO_VALUE)
  })

  test("of Swagger 2.0", () => {
    const legacy = (responses: Raw, more: Raw = {}): unknown =>
      importOne(swagger({ "/x": { get: { operationId: "op", responses, ...more } } })).outputSchema

    expect(legacy({ 200: { schema: A } })).toEqual(A)
    expect(legacy({ 200: { schema: { type: "file" } } })).toEqual({ format: "binary" })
    expect(legacy({ 200: { schema: A } }, { produces: ["text/csv"] })).toEqual({ type: "string" })
    expect(legacy({ 200: { description: "" } })).toEqual({})
    expect(legacy({ 204: { description: "" } })).toEqual(NO_VALUE)
  })

  test("of a response that is a reference, or a broken one", () => {
    const components = { responses: { Ok: json(A) } }
    const broken = oneOperation("/x", "get", { responses: { 200: { $ref: "#/nowhere" } } })
    const operations = FromOpenAPI(broken, { namespace: "api" })

    expect(outputOf({ 200: { $ref: "#/components/responses/Ok" } }, { components })).toEqual(A)
    expect(operations[0]?.outputSchema).toEqual({})
    expect(operations.report.operations[0]?.notes[0]).toMatchObject({
      pointer: "/paths/~1x/get/responses/200",
      message: expect.stringContaining("#/nowhere") as unknown,
    })
  })

  test("has definitions of its own, apart from the input's", () => {
    const schemas = {
      In: { type: "object", properties: { a: { $ref: "#/components/schemas/Both" } } },
      Out: { type: "object", properties: { b: { $ref: "#/components/schemas/Both" } } },
      Both: { type: "string" },
    }
    const operation = importOne(
      oneOperation(
        "/x",
        "post",
        {
          requestBody: {
            content: { "application/json": { schema: { $ref: "#/components/schemas/In" } } },
          },
          responses: {
            200: json({ $ref: "#/components/schemas/Out" }),
            404: json({ $ref: "#/components/schemas/Both" }),
          },
        },
        { components: { schemas } },
      ),
    )
    const names = (schema: unknown): string[] =>
      Object.keys((schema as { $defs: object }).$defs).toSorted()

    expect(names(operation.inputSchema)).toEqual(["Both", "In"])
    expect(names(operation.outputSchema)).toEqual(["Both", "Out"])
    expect(names(operation.errorSchemas?.[0]?.schema)).toEqual(["Both"])
  })
})
