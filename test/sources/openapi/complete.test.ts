import { describe, expect, test } from "vitest"
import { FromOpenAPI, FromOpenAPIFile } from "../../../src/from-openapi.ts"
import type { ImportReport } from "../../../src/from-openapi.ts"
import { pointsNowhere } from "./laws.ts"
import { importOne, oneOperation, openapi, sent, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

function reportOf(spec: Raw): ImportReport {
  return FromOpenAPI(spec, { namespace: "api" }).report
}

function withBody(type: string, schema: Raw): Raw {
  return oneOperation("/x", "post", { requestBody: { content: { [type]: { schema } } } })
}

function withAnswer(type: string, schema: Raw): Raw {
  const content = { [type]: { schema } }
  return oneOperation("/x", "get", { responses: { 200: { description: "", content } } })
}

const PET = { type: "object", properties: { name: { type: "string" } } }

describe("a content type that is not quite one", () => {
  test.each([
    ["application/form-data", { name: "Rex" }, /^multipart\/form-data; boundary=/, /"name"\s+Rex/],
    ["form-data", { name: "Rex" }, /^multipart\/form-data; boundary=/, /"name"\s+Rex/],
    [
      "application/x-www-form-urlencode",
      { name: "Rex" },
      /^application\/x-www-form-urlencoded$/,
      /^name=Rex$/,
    ],
    ["json", { name: "Rex" }, /^application\/json$/, /^\{"name":"Rex"\}$/],
    ["", { name: "Rex" }, /^application\/json$/, /^\{"name":"Rex"\}$/],
    [
      "application/apply-patch+yaml",
      { name: "Rex" },
      /^application\/apply-patch\+yaml$/,
      /^\{"name":"Rex"\}$/,
    ],
    ["application/yaml", "name: Rex", /^application\/yaml$/, /^name: Rex$/],
  ])(
    "%j takes an object as its schema says, and is sent as what is meant",
    async (type, body, label, text) => {
      const spec = withBody(type, PET)
      const request = await sent(spec, { body })

      expect(request.headers["content-type"]).toMatch(label)
      expect(request.body).toMatch(text)
      expect(reportOf(spec).counts).toMatchObject({ kept: 1, widened: 0 })
    },
  )

  test.each([
    ["plain/text", "text/plain"],
    ["application/html", "text/html"],
    ["text", "text/plain"],
  ])("%j is text, as a body and as an answer", async (type, meant) => {
    const body = withBody(type, { type: "string" })
    const answer = withAnswer(type, { type: "string" })

    expect((await sent(body, { body: "hello" })).headers["content-type"]).toBe(meant)
    expect(importOne(answer).outputSchema).toEqual({ type: "string" })
    expect((await sent(answer)).headers["accept"]).toBe(meant)
    expect(reportOf(body).counts).toMatchObject({ kept: 1 })
  })

  test("an empty one is anything, as an answer", () => {
    expect(importOne(withAnswer("", PET)).outputSchema).toEqual(PET)
  })

  test.each(["application/msgpack", "application/x-protobuf", "application/vnd.acme"])(
    "%s with an object schema is bytes, and a note says so",
    (type) => {
      for (const spec of [withBody(type, PET), withAnswer(type, PET)]) {
        const [operation] = reportOf(spec).operations

        expect(operation?.status).toBe("widened")
        expect(operation?.notes).toEqual([
          {
            pointer: expect.stringContaining(type.replace("/", "~1")) as unknown,
            message: `${type} is passed as bytes; its schema is not used.`,
          },
        ])
      }
    },
  )

  test("bytes that are said to be bytes are no surprise", () => {
    for (const schema of [{ type: "string", format: "binary" }, { type: "string" }, {}]) {
      expect(reportOf(withBody("application/msgpack", schema)).operations[0]?.notes).toEqual([])
    }
    expect(reportOf(withAnswer("image/png", PET)).counts.kept).toBe(1)
  })

  test("works in the lists of Swagger 2.0", async () => {
    const parameters = [{ name: "b", in: "body", schema: { type: "string" } }]
    const spec = swagger(
      { "/x": { post: { operationId: "op", parameters, responses: { 200: { schema: PET } } } } },
      { consumes: ["plain/text"], produces: ["json"] },
    )
    const { headers } = await sent(spec, { body: "hello" })

    expect(headers).toMatchObject({ "content-type": "text/plain", accept: "application/json" })
  })
})

describe("a parameter that no request can have", () => {
  test.each(["Content-Length", "Cookie", "Host", "Transfer-Encoding", "connection"])(
    "the header %s, though required, is no input and leaves the operation callable",
    async (name) => {
      const parameters = [
        { name, in: "header", required: true, schema: { type: "string" } },
        { name: "X-Fine", in: "header", required: true, schema: { type: "string" } },
      ]
      const spec = oneOperation("/x", "get", { parameters })
      const [operation] = reportOf(spec).operations

      expect(importOne(spec).inputSchema).toMatchObject({ required: ["X-Fine"] })
      expect((await sent(spec, { "X-Fine": "1" })).headers).toMatchObject({ "x-fine": "1" })
      expect(operation).toMatchObject({
        status: "kept",
        notes: [{ pointer: "/paths/~1x/get/parameters/0", isNeutral: true }],
      })
    },
  )

  test.each(["header", "cookie"])(
    "a %s whose name is none is left out, and noted",
    async (where) => {
      const parameters = [{ name: "no name", in: where, required: true, schema: {} }]
      const spec = oneOperation("/x", "get", { parameters })

      expect((await sent(spec)).line).toBe("GET /x HTTP/1.1")
      expect(reportOf(spec).counts).toMatchObject({ kept: 0, widened: 1 })
    },
  )

  test("a required body of a GET is not required, and the operation is not kept", async () => {
    const content = { "application/json": { schema: { ...PET, required: ["name"] } } }
    const requestBody = { required: true, content }
    const spec = oneOperation("/x", "get", { requestBody })

    expect((await sent(spec)).line).toBe("GET /x HTTP/1.1")
    expect(reportOf(spec).counts).toMatchObject({ kept: 0, widened: 1 })
    const optional = oneOperation("/x", "get", { requestBody: { content } })
    expect(reportOf(optional).counts).toMatchObject({ kept: 1, widened: 0 })
  })
})

test.each(["trace", "TRACE", "Connect", "track"])(
  "the method %s is skipped with the reason, since fetch refuses it",
  (method) => {
    const operation = { responses: { 200: {} } }
    const item =
      method === "trace" ? { trace: operation } : { additionalOperations: { [method]: operation } }
    const { counts, operations } = reportOf(openapi({ "/x": item }))

    expect(counts).toMatchObject({ kept: 0, skipped: 1 })
    expect(operations[0]?.notes[0]?.message).toContain("fetch refuses it")
  },
)

describe("security that is not declared", () => {
  test("is noted by name, for the operation and for the document", () => {
    const spec = openapi(
      { "/a": { get: { security: [{ known: [] }, { "un/known": [] }] } }, "/b": { get: {} } },
      {
        security: [{ missing: [] }],
        components: { securitySchemes: { known: { type: "http", scheme: "basic" } } },
      },
    )
    const notes = reportOf(spec).operations.flatMap((operation) => operation.notes)

    expect(notes).toEqual([
      {
        pointer: "/paths/~1a/get/security/1/un~1known",
        message: expect.stringContaining('"un/known"') as unknown,
        isNeutral: true,
      },
      {
        pointer: "/security/0/missing",
        message: expect.stringContaining('"missing"') as unknown,
        isNeutral: true,
      },
    ])
  })

  test.each([[{ $ref: "#/nowhere" }], ["basic"]])("%j is noted, and not kept", (security) => {
    const { counts, operations } = reportOf(oneOperation("/x", "get", { security }))

    expect(counts).toMatchObject({ kept: 0, widened: 1 })
    expect(operations[0]?.notes[0]?.pointer).toBe("/paths/~1x/get/security")
  })
})

describe("an allOf that no value fits", () => {
  const closed = (name: string): Raw => ({
    type: "object",
    properties: { [name]: { type: "string" } },
    required: [name],
    additionalProperties: false,
  })
  test.each<[string, unknown[], string]>([
    ["types", [{ type: "string" }, { type: "integer" }], "type string"],
    [
      "types behind references",
      [{ $ref: "#/components/schemas/Text" }, { type: "object" }],
      "type object",
    ],
    ["types of nested parts", [{ allOf: [{ type: "array" }] }, { type: "object" }], "type array"],
    ["values", [{ enum: ["a", "b"] }, { const: "c" }], "no value in common"],
    ["limits", [{ type: "integer", minimum: 5 }, { maximum: 4 }], "minimum 5 is above maximum 4"],
    ["closed objects", [closed("a"), closed("b")], '"a" is required'],
    [
      "a required property",
      [
        { type: "object", required: ["kind"], properties: { kind: { const: "cat" } } },
        { type: "object", properties: { kind: { enum: ["dog"] } } },
      ],
      'of "kind", its parts have no value in common',
    ],
  ])("by its %s accepts anything, and a note says why", async (_what, allOf, reason) => {
    const components = { schemas: { Text: { type: "string" } } }
    const body = { required: true, content: { "application/json": { schema: { allOf } } } }
    const spec = oneOperation("/x", "post", { requestBody: body }, { components })
    const [operation] = reportOf(spec).operations

    expect(operation).toMatchObject({ status: "widened" })
    expect(operation?.notes).toEqual([
      {
        pointer: "/paths/~1x/post/requestBody/content/application~1json/schema/allOf",
        message: expect.stringContaining(reason) as unknown,
      },
    ])
    expect((await sent(spec, { body: { a: 1 } })).body).toBe('{"a":1}')
  })

  test.each<[string, unknown[]]>([
    ["integers are numbers", [{ type: "integer" }, { type: "number" }]],
    ["null is both", [{ type: ["string", "null"] }, { type: ["object", "null"] }]],
    ["some values are common", [{ enum: ["a", "b"] }, { enum: ["b", "c"] }]],
    ["a part itself", [{ $ref: "#/components/schemas/Loop" }, { type: "object" }]],
    [
      "what is read-only is not required",
      [
        {
          type: "object",
          required: ["id"],
          properties: { id: { type: "string", readOnly: true } },
        },
        { type: "object", additionalProperties: false },
      ],
    ],
    [
      "what nobody requires may differ",
      [
        { type: "object", properties: { kind: { const: "cat" } } },
        { type: "object", properties: { kind: { const: "dog" } } },
      ],
    ],
  ])("is not one where %s", (_what, allOf) => {
    const loop = { type: "object", properties: { next: { $ref: "#/components/schemas/Loop" } } }
    const content = { "application/json": { schema: { allOf } } }
    const spec = oneOperation(
      "/x",
      "post",
      { requestBody: { content } },
      {
        components: { schemas: { Loop: loop } },
      },
    )

    expect(reportOf(spec).operations[0]?.notes).toEqual([])
  })
})

test("webhooks and callbacks are counted, also by reference", () => {
  const request = { responses: { 200: {} } }
  const spec = openapi(
    {
      "/x": {
        post: {
          ...request,
          callbacks: {
            done: { "{$request.body#/url}": { post: request, put: request, summary: "x" } },
            failed: { $ref: "#/components/callbacks/Failed" },
          },
        },
      },
    },
    {
      webhooks: { created: { post: request }, gone: { $ref: "#/components/pathItems/Gone" } },
      components: {
        callbacks: { Failed: { "{$url}": { post: request } } },
        pathItems: { Gone: { post: request } },
      },
    },
  )
  const { counts } = reportOf(spec)

  expect(counts).toMatchObject({ kept: 1, webhooks: 2, callbacks: 3 })
  expect(String(reportOf(spec))).toContain("2 webhooks, 3 callbacks")
})

test.each([["text/csv"], ["application/xml"], ["application/json"], ["application/pdf"], []])(
  "a response of `type: file` in Swagger 2.0 is kept as %s",
  (...produces) => {
    const responses = { 200: { description: "", schema: { type: "file" } } }
    const spec = swagger({ "/x": { get: { operationId: "op", produces, responses } } })

    expect(reportOf(spec).operations[0]).toMatchObject({ status: "kept", notes: [] })
  },
)

describe("notes point to what is there", () => {
  const WRONG = { type: "string", pattern: "(" }

  test("in other files, which they name", async () => {
    const files: Record<string, Raw> = {
      "/api/openapi.json": openapi({ "/x": { $ref: "paths/x.json" } }),
      "/api/paths/x.json": {
        get: {
          parameters: [{ name: "q", in: "query", schema: { $ref: "../schemas.json#/Q" } }, 5],
          responses: { 200: { $ref: "#/nowhere" } },
        },
      },
      "/api/schemas.json": { Q: WRONG },
    }
    const { report } = await FromOpenAPIFile(
      "/api/openapi.json",
      { namespace: "api" },
      { readFile: (path) => Promise.resolve(JSON.stringify(files[path])) },
    )
    const notes = report.operations.flatMap((operation) => operation.notes)

    expect(notes.map(({ file, pointer }) => `${file}#${pointer}`).toSorted()).toEqual([
      "paths/x.json#/get/parameters/1",
      "paths/x.json#/get/responses/200",
      "schemas.json#/Q/pattern",
    ])
    for (const { file, pointer } of notes) {
      expect(pointsNowhere(files[`/api/${file}`], pointer)).toBe(false)
    }
    expect(String(report)).toContain("[schemas.json#/Q/pattern]")
  })

  test("in bodies of Swagger 2.0 that a GET cannot have", () => {
    const parameters = [{ name: "pet", in: "body", schema: PET }]
    const spec = swagger({ "/x": { get: { parameters, responses: {} } } })
    const [note] = reportOf(spec).operations[0]?.notes ?? []

    expect(note?.pointer).toBe("/paths/~1x/get/parameters/0")
  })
})
