import { describe, expect, test } from "vitest"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { importOne, oneOperation, sent, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const FLAT = { flatten: true }

function withBody(schema: unknown, more: Raw = {}, type = "application/json"): Raw {
  return oneOperation("/pets/{id}", "put", {
    parameters: [
      { name: "id", in: "path", required: true, schema: { type: "string" } },
      { name: "dry", in: "query", schema: { type: "boolean" } },
    ],
    requestBody: { required: true, content: { [type]: { schema } }, ...more },
  })
}

describe("with flatten, the properties of an object body are inputs of their own", () => {
  const schema = {
    type: "object",
    properties: {
      id: { type: "integer" },
      name: { type: "string" },
      created: { type: "string", readOnly: true },
      body_id: { type: "string" },
    },
    required: ["name", "created"],
  }
  const spec = withBody(schema)

  test("and go back into it", async () => {
    const request = await sent(
      spec,
      { id: "p", dry: true, body_id: "x", body_id_2: 7, name: "n" },
      FLAT,
    )

    expect(request.line).toBe("PUT /pets/p?dry=true HTTP/1.1")
    expect(JSON.parse(request.body)).toEqual({ id: 7, name: "n", body_id: "x" })
  })

  test("under names that no parameter has, which _meta tells", () => {
    const operation = importOne(spec, FLAT)

    expect(operation._meta?.["openapi"]).toMatchObject({
      inputs: [
        { key: "id", in: "path", name: "id" },
        { key: "dry", in: "query", name: "dry" },
        { key: "body_id_2", in: "body", name: "id" },
        { key: "name", in: "body", name: "name" },
        { key: "body_id", in: "body", name: "body_id" },
      ],
    })
    expect(operation.inputSchema).toMatchObject({
      properties: {
        id: { type: "string" },
        body_id_2: { type: "integer" },
        body_id: { type: "string" },
        name: { type: "string" },
      },
      required: ["id", "name"],
      additionalProperties: false,
    })
  })

  test("those of allOf and of a reference too", async () => {
    const composed = {
      ...withBody({ $ref: "#/components/schemas/All" }),
      components: {
        schemas: {
          All: { allOf: [{ $ref: "#/components/schemas/A" }, { properties: { b: {} } }] },
          A: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        },
      },
    }
    const { body } = await sent(composed, { id: "p", a: "1", b: 2 }, FLAT)

    expect(JSON.parse(body)).toEqual({ a: "1", b: 2 })
    expect(importOne(composed, FLAT).inputSchema).toMatchObject({ required: ["id", "a"] })
  })

  test("those of an allOf that repeats its members, each read once", () => {
    const levels = Array.from({ length: 16 }, (_, level) => {
      const below = { $ref: `#/components/schemas/L${level + 1}` }
      return [`L${level}`, { allOf: [below, below, below] }] as const
    })
    const last = { type: "object", properties: { deepest: { type: "string" } } }
    const document = {
      ...withBody({ $ref: "#/components/schemas/L0" }),
      components: { schemas: { ...Object.fromEntries(levels), L16: last } },
    }

    const { inputSchema } = importOne(document, FLAT)

    expect(inputSchema).toHaveProperty("properties.deepest", { type: "string" })
  })

  test("not those of an allOf that contains itself", () => {
    const loop = { allOf: [{ $ref: "#/components/schemas/Loop" }], properties: { a: {} } }
    const document = {
      ...withBody({ $ref: "#/components/schemas/Loop" }),
      components: { schemas: { Loop: loop } },
    }

    expect(importOne(document, FLAT).inputSchema).toHaveProperty("properties.body")
  })

  test("those of a form as well, in both versions", async () => {
    const form = "application/x-www-form-urlencoded"
    const legacy = swagger({
      "/f": {
        post: {
          operationId: "op",
          parameters: [
            { name: "a", in: "formData", type: "string", required: true },
            { name: "b", in: "formData", type: "integer" },
          ],
          responses: {},
        },
      },
    })

    expect((await sent(withBody(schema, {}, form), { id: "p", name: "n" }, FLAT)).body).toBe(
      "name=n",
    )
    expect((await sent(legacy, { a: "x", b: 1 }, FLAT)).body).toBe("a=x&b=1")
    expect(importOne(legacy, FLAT).inputSchema).toMatchObject({ required: ["a"] })
  })

  test("and none is needed where the body is not", async () => {
    const optional = withBody(schema, { required: false })

    expect((await sent(optional, { id: "p" }, FLAT)).body).toBe("")
    expect(importOne(optional, FLAT).inputSchema).toMatchObject({ required: ["id"] })
  })

  test("where `body` is one of them, it is one like any other", async () => {
    const named = withBody({ type: "object", properties: { body: { type: "string" } } })

    expect((await sent(named, { id: "p", body: "text" }, FLAT)).body).toBe('{"body":"text"}')
  })

  test.each<[string, unknown, unknown]>([
    ["a list", { type: "array" }, [1]],
    ["a text", { type: "string" }, "a"],
    ["a union", { oneOf: [{ type: "object", properties: { a: {} } }] }, { a: 1 }],
    [
      "a union in one of its parts",
      { allOf: [{ properties: { a: {} } }, { oneOf: [{ properties: { b: {} } }] }] },
      { a: 1, b: 2 },
    ],
    ["free", { type: "object", additionalProperties: { type: "integer" } }, { a: 1 }],
    ["anything", {}, { a: 1 }],
    ["without properties", { type: "object" }, {}],
  ])("but a body that is %s stays one input", async (_what, other, value) => {
    const spread = withBody(other)
    const { body } = await sent(spread, { id: "p", body: value }, FLAT)

    expect(JSON.parse(body)).toEqual(value)
    expect(compileSchema(importOne(spread, FLAT).inputSchema).check({ id: "p" })).toBe(false)
  })

  test("renames are in the report", () => {
    const { report } = FromOpenAPI(spec, { namespace: "api", ...FLAT })

    expect(report.operations[0]).toMatchObject({
      status: "kept",
      notes: [{ message: expect.stringContaining('"body_id_2"') as unknown }],
    })
  })
})

test("inputs are those of the content type that is sent, wherever it stands", async () => {
  const object = (name: string): Raw => ({
    schema: { type: "object", properties: { [name]: { type: "string" } }, required: [name] },
  })
  const of = (content: Raw): Raw =>
    oneOperation("/x", "patch", { requestBody: { required: true, content } })
  const cases: [Raw, string, string][] = [
    [
      { "multipart/form-data": object("file"), "application/json": object("json") },
      "json",
      "application/json",
    ],
    [
      {
        "application/json-patch+json": { schema: { type: "array", items: {} } },
        "application/merge-patch+json": object("merge"),
      },
      "merge",
      "application/merge-patch+json",
    ],
    [
      {
        "text/plain": { schema: { type: "string" } },
        "application/x-www-form-urlencoded": object("form"),
      },
      "form",
      "application/x-www-form-urlencoded",
    ],
  ]
  for (const [content, name, type] of cases) {
    const { required } = importOne(of(content), FLAT).inputSchema as { required?: unknown }

    expect(required).toEqual([name])
    expect((await sent(of(content), { [name]: "a" }, FLAT)).headers["content-type"]).toBe(type)
  }
})
