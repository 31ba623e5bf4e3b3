import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { importOne, openapi, sent, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const OK = { responses: { 200: { description: "" } } }

function keysOf(spec: Raw, name = "op"): string[] {
  const { properties } = importOne(spec, {}, name).inputSchema as unknown as { properties: object }
  return Object.keys(properties)
}

describe("a reference is followed wherever one may stand", () => {
  const components = {
    parameters: {
      Limit: { name: "limit", in: "query", schema: { type: "integer" } },
      Alias: { $ref: "#/components/parameters/Limit" },
    },
    requestBodies: {
      Pet: { required: true, content: { "application/json": { schema: { type: "object" } } } },
    },
    responses: { Ok: { description: "fine", content: { "text/plain": {} } } },
    schemas: { Name: { type: "string" } },
    securitySchemes: {
      key: { $ref: "#/components/securitySchemes/realKey" },
      realKey: { type: "apiKey", in: "header", name: "X-Real" },
    },
    examples: { A: { value: 1 } },
    mediaTypes: { Json: { schema: { type: "array" } } },
    pathItems: {
      Item: {
        parameters: [{ $ref: "#/components/parameters/Limit" }],
        get: { operationId: "op", ...OK },
      },
    },
  }

  test("a parameter, also over several", async () => {
    const parameters = [{ $ref: "#/components/parameters/Alias" }]
    const spec = openapi(
      { "/x": { get: { operationId: "op", parameters, ...OK } } },
      { components },
    )

    expect(keysOf(spec)).toEqual(["limit"])
    expect((await sent(spec, { limit: 2 })).line).toBe("GET /x?limit=2 HTTP/1.1")
  })

  test("a parameter of another path, and a path's own", () => {
    const spec = openapi({
      "/a/{id}": { parameters: [{ name: "id", in: "path", required: true, schema: {} }], get: OK },
      "/b/{id}": {
        parameters: [{ $ref: "#/paths/~1a~1%7Bid%7D/parameters/0" }],
        get: { operationId: "op", ...OK },
      },
    })

    expect(keysOf(spec)).toEqual(["id"])
    expect(FromOpenAPI(spec, { namespace: "api" }).report.counts.widened).toBe(0)
  })

  test("a body, a response, a security scheme and a media type", async () => {
    const spec = openapi(
      {
        "/x": {
          post: {
            operationId: "op",
            requestBody: { $ref: "#/components/requestBodies/Pet" },
            security: [{ key: [] }],
            responses: { 200: { $ref: "#/components/responses/Ok" } },
          },
          get: {
            operationId: "list",
            responses: {
              200: {
                description: "",
                content: { "application/json": { $ref: "#/components/mediaTypes/Json" } },
              },
            },
          },
        },
      },
      { components, openapi: "3.2.0" },
    )
    const request = await sent(spec, { body: {} }, { credentials: { key: "k" } })

    expect(request.headers).toEqual({
      accept: "text/plain",
      "content-type": "application/json",
      "x-real": "k",
    })
    expect(importOne(spec).inputSchema).toMatchObject({ required: ["body"] })
    expect(importOne(spec).outputSchema).toEqual({ type: "string" })
    expect(importOne(spec, {}, "list").outputSchema).toEqual({ type: "array" })
  })

  test("a path, beside which more may stand", async () => {
    const spec = openapi(
      {
        "/x": {
          $ref: "#/components/pathItems/Item",
          post: { operationId: "own", ...OK },
        },
      },
      { components },
    )

    expect(keysOf(spec)).toEqual(["limit"])
    expect((await sent(spec, { limit: 1 })).line).toBe("GET /x?limit=1 HTTP/1.1")
    expect((await sent(spec, { limit: 1 }, {}, "own")).line).toBe("POST /x?limit=1 HTTP/1.1")
  })

  test("in Swagger 2.0: parameters, bodies among them, and responses", async () => {
    const spec = swagger(
      {
        "/x": {
          post: {
            operationId: "op",
            parameters: [{ $ref: "#/parameters/limit" }, { $ref: "#/parameters/pet" }],
            responses: { 200: { $ref: "#/responses/Ok" } },
          },
        },
      },
      {
        parameters: {
          limit: { name: "limit", in: "query", type: "integer" },
          pet: { name: "pet", in: "body", required: true, schema: { $ref: "#/definitions/Pet" } },
        },
        responses: { Ok: { description: "", schema: { $ref: "#/definitions/Pet" } } },
        definitions: { Pet: { type: "object" } },
      },
    )
    const request = await sent(spec, { limit: 1, body: { a: 1 } })

    expect(request.line).toBe("POST /x?limit=1 HTTP/1.1")
    expect(request.body).toBe('{"a":1}')
    expect(importOne(spec).outputSchema).toEqual({
      $ref: "#/$defs/Pet",
      $defs: { Pet: { type: "object" } },
    })
  })

  test("to the document itself by its own address", () => {
    const spec = openapi(
      {
        "/x": {
          get: {
            operationId: "op",
            parameters: [{ $ref: "https://api.test/openapi.json#/components/parameters/Limit" }],
            ...OK,
          },
        },
      },
      { components, openapi: "3.2.0" },
    )

    expect(keysOf({ ...spec, $self: "https://api.test/openapi.json" })).toEqual(["limit"])
    expect(
      FromOpenAPI(spec, { namespace: "api", documentUrl: "https://api.test/openapi.json" }).report
        .counts,
    ).toMatchObject({ kept: 1 })
  })
})

describe("a broken reference costs only what it stands for", () => {
  test.each<[string, Raw, string[]]>([
    ["a parameter", { parameters: [{ $ref: "#/nowhere" }] }, []],
    ["a body", { requestBody: { $ref: "#/nowhere" } }, ["body"]],
    ["a response", { responses: { 200: { $ref: "#/nowhere" } } }, []],
    [
      "a schema",
      { parameters: [{ name: "q", in: "query", schema: { $ref: "#/nowhere" } }] },
      ["q"],
    ],
    ["a circle", { parameters: [{ $ref: "#/components/parameters/A" }] }, []],
    ["no text", { parameters: [{ name: "q", in: "query", schema: { $ref: 5 } }] }, ["q"]],
  ])("%s", async (_what, part, keys) => {
    const components = {
      parameters: {
        A: { $ref: "#/components/parameters/B" },
        B: { $ref: "#/components/parameters/A" },
      },
    }
    const spec = openapi(
      { "/x": { post: { operationId: "op", ...OK, ...part } }, "/y": { get: OK } },
      { components },
    )
    const operations = FromOpenAPI(spec, { namespace: "api" })

    expect(operations.map(({ name }) => name)).toEqual(["op", "get_y"])
    expect(keysOf(spec)).toEqual(keys)
    expect((await sent(spec)).line).toBe("POST /x HTTP/1.1")
    expect(operations.report.counts).toMatchObject({ skipped: 0 })
  })

  test("a path is skipped, and the report says which and why", () => {
    const spec = openapi({ "/x": { $ref: "#/nowhere" }, "/y": { get: OK }, "/z": 5 })
    const { report } = FromOpenAPI(spec, { namespace: "api" })

    expect(report.counts).toMatchObject({ kept: 1, skipped: 2 })
    expect(report.operations.filter(({ status }) => status === "skipped")).toEqual([
      {
        method: undefined,
        path: "/x",
        status: "skipped",
        notes: [
          {
            pointer: "/paths/~1x",
            message: expect.stringContaining('"#/nowhere" cannot be followed') as unknown,
          },
        ],
      },
      expect.objectContaining({ path: "/z", status: "skipped" }),
    ])
  })
})

describe("a schema that refers to itself for the same value", () => {
  test.each([
    ["allOf", { allOf: [{ $ref: "#/components/schemas/Loop" }] }],
    ["dependentSchemas", { dependentSchemas: { a: { $ref: "#/components/schemas/Loop" } } }],
  ])("under %s accepts anything there, and the report says so", (_, loop) => {
    const schema = { $ref: "#/components/schemas/Loop" }
    const body = { required: true, content: { "application/json": { schema } } }
    const spec = openapi(
      { "/x": { post: { operationId: "op", requestBody: body, ...OK } } },
      { openapi: "3.1.0", components: { schemas: { Loop: { type: "object", ...loop } } } },
    )
    const operations = FromOpenAPI(spec, { namespace: "api" })
    const compiled = compileSchema(operations[0]!.inputSchema)

    expect(compiled.check({ body: { a: 1 } })).toBe(true)
    expect(JSON.stringify(operations.report)).toContain("leads back to itself")
  })
})
