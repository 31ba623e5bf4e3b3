import { describe, expect, test } from "vitest"
import { FromOpenAPI, FromOpenAPIFile, prepareRequest } from "../../../src/from-openapi.ts"
import type { ImportedOperations } from "../../../src/from-openapi.ts"
import { importOne, openapi, sent, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const OK = { responses: { 200: { description: "" } } }
const TEXT = { description: "", content: { "application/json": { schema: { type: "string" } } } }
const LIMIT = { name: "limit", in: "query", required: true, schema: { type: "integer" } }

function imported(spec: Raw): ImportedOperations {
  return FromOpenAPI(spec, { namespace: "api" })
}

function inputsOf(spec: Raw): string[] {
  const { properties } = importOne(spec).inputSchema as unknown as { properties: object }
  return Object.keys(properties)
}

/** A document in several files, each given as what it holds. */
async function importFiles(
  files: Readonly<Record<string, unknown>>,
  config: Raw = {},
): Promise<ImportedOperations> {
  return await FromOpenAPIFile(
    "/api/openapi.json",
    { namespace: "api", ...config },
    {
      readFile: (path) => {
        const file = files[path.replace("/api/", "")]
        return file === undefined
          ? Promise.reject(new Error(`no file ${path}`))
          : Promise.resolve(JSON.stringify(file))
      },
    },
  )
}

const COMPLETE = {
  operationId: "op",
  summary: "Lists pets",
  tags: ["pets"],
  parameters: [LIMIT],
  responses: { 200: TEXT },
}

function expectComplete(operations: ImportedOperations): void {
  expect(operations.report.operations).toEqual([
    expect.objectContaining({ id: "api.op", status: "kept", notes: [] }),
  ])
  const [operation] = operations
  expect(operation).toMatchObject({ title: "Lists pets", tags: ["pets"] })
  expect(operation?.inputSchema).toMatchObject({
    properties: { limit: { type: "integer" } },
    required: ["limit"],
  })
  expect(operation?.outputSchema).toEqual({ type: "string" })
}

describe("an operation that is a reference", () => {
  test("is what it refers to in the same document", async () => {
    const spec = openapi(
      { "/x": { get: { $ref: "#/x-operations/list" } } },
      {
        "x-operations": { list: COMPLETE },
      },
    )

    expectComplete(imported(spec))
    expect((await sent(spec, { limit: 2 })).line).toBe("GET /x?limit=2 HTTP/1.1")
  })

  test("is what it refers to in another file, whose references start there", async () => {
    expectComplete(
      await importFiles({
        "openapi.json": openapi({ "/x": { get: { $ref: "operations/list.json" } } }),
        "operations/list.json": {
          ...COMPLETE,
          parameters: [{ $ref: "../parameters.json#/limit" }],
          responses: { 200: { $ref: "#/x-ok" } },
          "x-ok": TEXT,
        },
        "parameters.json": { limit: LIMIT },
      }),
    )
  })

  test("may be behind a chain of references", () => {
    const chain = { a: { $ref: "#/x-chain/b" }, b: { $ref: "#/x-chain/c" }, c: COMPLETE }

    expectComplete(
      imported(openapi({ "/x": { get: { $ref: "#/x-chain/a" } } }, { "x-chain": chain })),
    )
  })

  test("may say something beside its reference, which comes first", async () => {
    const operations = await importFiles({
      "openapi.json": openapi(
        {
          "/x": {
            get: {
              $ref: "operations.json#/list",
              operationId: "op",
              responses: { 200: { $ref: "#/components/responses/Ok" } },
            },
          },
        },
        { components: { responses: { Ok: TEXT } } },
      ),
      "operations.json": { list: { ...COMPLETE, operationId: "other", responses: {} } },
    })

    expectComplete(operations)
  })

  test("works in Swagger 2.0", async () => {
    const spec = swagger(
      { "/x": { post: { $ref: "#/x-operation" } } },
      {
        "x-operation": {
          operationId: "op",
          parameters: [{ name: "pet", in: "body", required: true, schema: { type: "object" } }],
          responses: { 200: { description: "", schema: { type: "string" } } },
        },
      },
    )

    expect(imported(spec).report.counts).toMatchObject({ kept: 1, widened: 0, skipped: 0 })
    expect((await sent(spec, { body: { a: 1 } })).body).toBe('{"a":1}')
  })

  test.each([
    ["leads nowhere", "#/nowhere", "there is nothing at that place"],
    ["is in a file that was not given", "other.json", "it is in another file"],
    ["leads back to itself", "#/paths/~1x/get", "it leads back to itself"],
    ["leads to a text", "#/info/title", "does not refer to an operation"],
    ["leads to a list", "#/x-list", "does not refer to an operation"],
    ["leads to a schema", "#/components/schemas/Pet", "does not refer to an operation"],
    ["leads to a path", "#/paths/~1y", "does not refer to an operation"],
  ])("is skipped with the reason when it %s", (_how, $ref, reason) => {
    const spec = openapi(
      { "/x": { get: { $ref } }, "/y": { get: OK } },
      { "x-list": [COMPLETE], components: { schemas: { Pet: { type: "object" } } } },
    )
    const { report } = imported(spec)

    expect(report.counts).toMatchObject({ kept: 1, widened: 0, skipped: 1 })
    expect(report.operations.at(-1)).toEqual({
      method: "GET",
      path: "/x",
      status: "skipped",
      notes: [{ pointer: "/paths/~1x/get", message: expect.stringContaining(reason) as unknown }],
    })
  })
})

describe("parts of an operation that are references", () => {
  test("all of `paths`, also in another file", async () => {
    expectComplete(
      await importFiles({
        "openapi.json": { ...openapi({}), paths: { $ref: "paths.json" } },
        "paths.json": { "/x": { $ref: "items.json#/x" } },
        "items.json": { x: { parameters: [LIMIT], get: { ...COMPLETE, parameters: [] } } },
      }),
    )
    const { report } = imported({ ...openapi({}), paths: { $ref: "#/nowhere" } })
    expect(report.operations).toEqual([
      expect.objectContaining({ status: "skipped", notes: [expect.anything()] }),
    ])
  })

  test("`responses`, beside which more may stand", () => {
    const spec = openapi(
      {
        "/x": {
          get: {
            ...COMPLETE,
            responses: { $ref: "#/x-responses", 404: { description: "none" } },
          },
        },
      },
      { "x-responses": { 200: TEXT, 404: { description: "replaced" } } },
    )

    expectComplete(imported(spec))
    expect(importOne(spec).errorSchemas).toEqual([
      expect.objectContaining({ code: "HTTP_404", description: "none" }),
    ])
  })

  test("`responses` that stream", () => {
    const spec = openapi(
      { "/x": { get: { operationId: "op", responses: { $ref: "#/x-r" } } } },
      {
        "x-r": { 200: { description: "", content: { "text/event-stream": {} } } },
      },
    )

    expect(importOne(spec).type).toBe("subscription")
  })

  test("the list of parameters, of an operation and of a path", () => {
    const lists = { "x-own": [LIMIT], "x-shared": [{ name: "page", in: "query", schema: {} }] }
    const spec = openapi(
      {
        "/x": {
          parameters: { $ref: "#/x-shared" },
          get: { operationId: "op", ...OK, parameters: { $ref: "#/x-own" } },
        },
      },
      lists,
    )

    expect(imported(spec).report.counts).toMatchObject({ kept: 1 })
    expect(inputsOf(spec)).toEqual(["limit", "page"])
  })

  test("a member of the list that stands for a list", () => {
    const spec = openapi(
      { "/x": { get: { operationId: "op", ...OK, parameters: [{ $ref: "#/x-a" }, LIMIT] } } },
      {
        "x-a": [
          { name: "page", in: "query", schema: {} },
          { $ref: "#/x-a" },
          [{ name: "sort", in: "query", schema: {} }],
        ],
      },
    )

    expect(inputsOf(spec)).toEqual(["page", "sort", "limit"])
    expect(imported(spec).report.counts).toMatchObject({ kept: 1 })
  })

  test("`content`, media types, encodings and named examples", async () => {
    const spec = openapi(
      {
        "/x": {
          post: {
            operationId: "op",
            requestBody: { content: { $ref: "#/x-content" } },
            responses: { 200: { description: "", content: { $ref: "#/x-answer" } } },
          },
        },
      },
      {
        "x-answer": { "application/json": { schema: { type: "string" } } },
        "x-content": { "application/x-www-form-urlencoded": { $ref: "#/x-form" } },
        "x-form": {
          schema: { type: "object", properties: { ids: { type: "array" } } },
          encoding: { ids: { $ref: "#/x-commas" } },
          examples: { $ref: "#/components/examples" },
        },
        "x-commas": { style: "form", explode: false },
        components: {
          examples: {
            A: { $ref: "#/components/examples/B" },
            B: { value: { ids: [1] } },
            None: { $ref: "#/nowhere" },
          },
        },
      },
    )

    expect(importOne(spec).outputSchema).toEqual({ type: "string" })
    expect((await sent(spec, { body: { ids: [1, 2] } })).body).toBe("ids=1,2")
    const example = { body: { ids: [1] } }
    expect(importOne(spec).examples).toEqual([example, example])
  })

  test("examples in other files, in which a `$ref` is data", async () => {
    const operations = await importFiles({
      "openapi.json": openapi({
        "/x": {
          post: {
            ...OK,
            requestBody: {
              content: {
                "application/json": { examples: { a: { $ref: "examples.json#/list/a" } } },
              },
            },
          },
        },
      }),
      "examples.json": { list: { a: { $ref: "#/list/b" }, b: { $ref: "example.json" } } },
      "example.json": { value: { $ref: "not-a-file.json" } },
    })

    expect(operations[0]?.examples).toEqual([{ body: { $ref: "not-a-file.json" } }])
  })

  test("security, servers, and all schemes", async () => {
    const spec = openapi(
      { "/x": { get: { operationId: "op", ...OK, security: { $ref: "#/x-security" } } } },
      {
        "x-security": [{ key: [] }],
        components: { $ref: "#/x-components" },
        "x-components": { securitySchemes: { $ref: "#/x-schemes" } },
        "x-schemes": { key: { type: "apiKey", in: "header", name: "X-Key" } },
      },
    )

    expect((await sent(spec, {}, { credentials: { key: "k" } })).headers).toEqual({ "x-key": "k" })
  })

  test("a pointer that leads through a reference, as where all schemas are another file", async () => {
    const operations = await importFiles({
      "openapi.json": openapi(
        {
          "/x": {
            get: {
              ...COMPLETE,
              responses: {
                200: {
                  description: "",
                  content: {
                    "application/json": { schema: { $ref: "#/components/schemas/Pet" } },
                  },
                },
              },
            },
          },
        },
        { components: { schemas: { $ref: "schemas.json" } } },
      ),
      "schemas.json": {
        Pet: { type: "object", properties: { name: { $ref: "#/Name" } } },
        Name: { type: "string" },
      },
    })

    expect(operations.report.counts).toMatchObject({ kept: 1, widened: 0 })
    expect(operations[0]?.outputSchema).toEqual({
      $ref: "#/$defs/Pet",
      $defs: {
        Pet: { type: "object", properties: { name: { $ref: "#/$defs/Name" } } },
        Name: { type: "string" },
      },
    })
  })

  test.each<[string, Raw]>([
    ["responses", { responses: { $ref: "#/nowhere" } }],
    ["the list of parameters", { parameters: { $ref: "#/nowhere" } }],
    ["content of a response", { responses: { 200: { content: { $ref: "#/nowhere" } } } }],
    [
      "a media type of a response",
      { responses: { 200: { content: { "application/json": { $ref: "#/nowhere" } } } } },
    ],
    ["content of a body", { requestBody: { content: { $ref: "#/nowhere" } } }],
    [
      "a media type of a parameter",
      { parameters: [{ name: "q", in: "query", content: { "text/plain": { $ref: "#/no" } } }] },
    ],
    ["a circle of responses", { responses: { $ref: "#/paths/~1x/post/responses" } }],
    ["a pointer through a circle", { responses: { $ref: "#/paths/~1x/post/responses/a/b" } }],
  ])("%s that lead nowhere are noted, and the operation is not kept", async (_what, part) => {
    const spec = openapi({ "/x": { post: { operationId: "op", ...OK, ...part } } })
    const { report } = imported(spec)

    expect(report.operations).toEqual([
      expect.objectContaining({
        status: "widened",
        notes: [
          {
            pointer: expect.stringMatching(/^\/paths\/~1x\/post\//) as unknown,
            message: expect.stringContaining("cannot be followed") as unknown,
          },
        ],
      }),
    ])
    const request = await prepareRequest(importOne(spec, { baseUrl: "https://api.test" }))
    expect(request).toMatchObject({ method: "POST", url: "https://api.test/x" })
  })

  test("headers and examples that lead nowhere are noted; nothing else depends on them", () => {
    const headers = {
      "X-Rate": { $ref: "#/nowhere" },
      "X-Fine": { $ref: "#/components/headers/A" },
    }
    const examples = { a: { $ref: "#/nowhere" } }
    const spec = openapi(
      {
        "/x": {
          post: {
            requestBody: { content: { "application/json": { examples } } },
            responses: { 200: { description: "", headers }, 400: { headers: { $ref: "#/no" } } },
          },
        },
      },
      { components: { headers: { A: { schema: { type: "string" } } } } },
    )
    const [operation] = imported(spec).report.operations

    expect(operation?.status).toBe("kept")
    expect(operation?.notes.map(({ pointer }) => pointer)).toEqual([
      "/paths/~1x/post/requestBody/content/application~1json/examples/a",
      "/paths/~1x/post/responses/200/headers/X-Rate",
      "/paths/~1x/post/responses/400/headers",
    ])
  })
})
