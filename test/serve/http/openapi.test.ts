import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { createDocument } from "./create-document.ts"
import type { DocumentOptions, OpenAPIObject } from "../../../src/serve/http/openapi/model.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { faultsOf } from "./openapi-back.ts"
import { demo } from "./openapi-demo.ts"

const ABOUT: DocumentOptions = { title: "Demo", version: "1.2.3", restPath: "/api" }

function documentOf(
  operations: Parameters<typeof quietRegistry>[0] = demo,
  options: Partial<DocumentOptions> = {},
): OpenAPIObject {
  return createDocument(quietRegistry(operations), { ...ABOUT, ...options })
}

/** All references of a document that lead nowhere. */
function dangling(document: object): string[] {
  const lost: string[] = []
  JSON.stringify(document, (key, value: unknown) => {
    if (key !== "$ref" || typeof value !== "string") return value
    let at: unknown = document
    for (const step of value.slice(2).split("/")) at = (at as Record<string, unknown>)?.[step]
    if (!value.startsWith("#/components/") || at === undefined) lost.push(value)
    return value
  })
  return lost
}

function operationAt({ paths }: OpenAPIObject, path: string, method: "get" | "post"): unknown {
  return paths[path]?.[method]
}

function schemasOf(document: OpenAPIObject): Record<string, unknown> {
  return document.components["schemas"] as Record<string, unknown>
}

describe("createDocument", () => {
  test.each(["3.1", "3.2"] as const)("gives a valid OpenAPI %s document", async (openapi) => {
    const document = documentOf(demo, {
      openapi,
      description: "All of it",
      servers: [{ url: "https://api.example.com" }],
      security: ["jwt", "apiKey"],
    })

    expect(await faultsOf(document)).toBeUndefined()
    expect(dangling(document)).toEqual([])
    expect(document.openapi.startsWith(openapi)).toBe(true)
    expect(document.info).toEqual({ title: "Demo", version: "1.2.3", description: "All of it" })
  })

  test("is valid without any operation", async () => {
    expect(await faultsOf(documentOf([]))).toBeUndefined()
  })

  test("has one path per operation: GET where a query holds the input, else POST", () => {
    const { paths } = documentOf()

    expect(Object.entries(paths).map(([path, item]) => [path, ...Object.keys(item)])).toEqual([
      ["/api/demo/count", "get"],
      ["/api/demo/greet", "get"],
      ["/api/task/create", "post"],
      ["/api/task/find", "post"],
      ["/api/task/list", "get"],
      ["/api/task/remove", "post"],
      ["/api/task/tick", "get"],
      ["/api/tree/other", "post"],
      ["/api/tree/put", "post"],
    ])
  })

  test("does not depend on the order of registration", () => {
    const text = JSON.stringify(documentOf())

    expect(JSON.stringify(documentOf(demo.toReversed()))).toBe(text)
  })

  test("writes scalars and lists plainly, and objects and unions as JSON", () => {
    const { parameters } = operationAt(documentOf(), "/api/task/list", "get") as {
      parameters: Array<Record<string, unknown>>
    }

    expect(parameters.map(({ name, content }) => [name, content === undefined])).toEqual([
      ["text", true],
      ["limit", true],
      ["done", true],
      ["ids", true],
      ["range", false],
      ["either", false],
    ])
    expect(parameters[0]).toMatchObject({ in: "query", description: "What to look for" })
    expect(parameters[1]).toMatchObject({
      required: true,
      schema: { type: "integer", maximum: 100 },
    })
  })

  test.each([
    ["a required list that may be empty", Type.Object({ ids: Type.Array(Type.String()) })],
    ["text that may be null", Type.Object({ a: Type.Union([Type.String(), Type.Null()]) })],
    ["open objects", Type.Object({}, { additionalProperties: Type.String() })],
    ["rules between properties", { ...Type.Object({ a: Type.String() }), minProperties: 1 }],
    ["no objects", Type.Array(Type.String())],
    ["anything", Type.Unknown()],
    ["required names nobody describes", { type: "object", required: ["x"] }],
    ["properties that must be absent", { type: "object", properties: { a: false } }],
  ])("sends %s by POST", (_, inputSchema) => {
    const { paths } = documentOf([
      operation("a.b", { type: "query", inputSchema, handler: () => 1 }),
    ])

    expect(Object.keys(paths["/api/a/b"] ?? {})).toEqual(["post"])
  })

  test("moves what is referred to into components, and keeps apart what only has the same name", () => {
    const schemas = schemasOf(documentOf())

    expect(Object.keys(schemas)).toEqual(["Problem", "Tree", "Tree_2", "tree.other.input"])
    expect(schemas["Tree"]).toEqual({ type: "string" })
    expect(schemas["Tree_2"]).toMatchObject({
      properties: { kids: { items: { $ref: "#/components/schemas/Tree_2" } } },
    })
    expect(schemas["tree.other.input"]).toMatchObject({
      properties: { me: { $ref: "#/components/schemas/tree.other.input" } },
    })
  })

  test("moves an object with a title into a component of that name", () => {
    const Pet = Type.Object({ name: Type.String() }, { title: "A pet" })
    const document = documentOf([
      operation("a.one", { outputSchema: Pet, handler: () => 1 }),
      operation("a.two", { outputSchema: Type.Array(Pet), handler: () => 1 }),
    ])

    expect(schemasOf(document)["A_pet"]).toMatchObject({ title: "A pet", type: "object" })
    expect(Object.keys(schemasOf(document))).toEqual(["A_pet", "Problem"])
  })

  test("leaves its own component alone when an operation has one of that name", async () => {
    const $defs = { Problem: { type: "object", properties: { x: { type: "null" } } } }
    const document = documentOf([
      operation("a.one", {
        inputSchema: { $ref: "#/$defs/Problem", $defs },
        handler: () => 1,
      }),
    ])

    expect(schemasOf(document)["Problem_2"]).toEqual($defs.Problem)
    expect(await faultsOf(document)).toBeUndefined()
  })

  test("survives long chains and awkward names", async () => {
    const $defs: Record<string, unknown> = {}
    for (let at = 0; at < 3000; at++) {
      $defs[`N${at}`] = { type: "object", properties: { next: { $ref: `#/$defs/N${at + 1}` } } }
    }
    $defs["N3000"] = { type: "string" }
    const odd = JSON.parse(
      `{"type":"object","properties":{"__proto__":{"type":"number"},"x":{"$ref":"#/$defs/a~1b%20c"}},"$defs":{"a/b c":{"type":"null"}}}`,
    ) as object
    const document = documentOf([
      operation("a.chain", {
        inputSchema: { $ref: "#/$defs/N0", $defs },
        handler: () => 1,
      }),
      operation("a.odd", { inputSchema: odd, handler: () => 1 }),
    ])

    expect(Object.keys(schemasOf(document))).toHaveLength(3003)
    expect(dangling(document)).toEqual([])
    expect(JSON.stringify(document)).toContain(`"__proto__":{"type":"number"}`)
    expect(await faultsOf(document)).toBeUndefined()
  })

  test("declares errors by status, beside the library's own codes of that status", () => {
    const { responses } = operationAt(documentOf(), "/api/task/create", "post") as {
      responses: Record<string, { content: Record<string, { schema: object }> }>
    }

    expect(Object.keys(responses)).toEqual(["200", "400", "409", "422", "default"])
    expect(responses["409"]?.content["application/problem+json"]?.schema).toMatchObject({
      anyOf: [
        { properties: { code: { const: "TITLE_TAKEN" }, details: { required: ["existing"] } } },
        { properties: { code: { enum: ["CONFLICT"] } } },
      ],
    })
    expect(responses["422"]?.content["application/problem+json"]?.schema).toMatchObject({
      properties: { code: { const: "LIST_FULL" } },
    })
  })

  test("answers 204 for no result, and either where there may be none", () => {
    const document = documentOf()
    const codes = (path: string): string[] =>
      Object.keys((operationAt(document, path, "post") as { responses: object }).responses)

    expect(codes("/api/task/remove")).toEqual(["204", "400", "default"])
    expect(codes("/api/task/find")).toEqual(["200", "204", "400", "default"])
  })

  test("says who may call, and what with", () => {
    const document = documentOf(demo, { security: ["bearer", "apiKey"] })

    expect(document["security"]).toEqual([{ bearer: [] }, { apiKey: [] }])
    expect(document.paths["/api/task/create"]?.["post"]).toMatchObject({
      security: [{ bearer: ["task:write"] }, { apiKey: ["task:write"] }],
      responses: { "401": {}, "403": {} },
    })
    expect(document.paths["/api/demo/greet"]?.["get"]).not.toHaveProperty("security")
    expect(documentOf().components).not.toHaveProperty("securitySchemes")
  })

  test("shows a caller what it may call, and never internal or unexposed operations", () => {
    const idsFor = (options: Partial<DocumentOptions>): string[] =>
      Object.keys(documentOf(demo, options).paths)

    expect(idsFor({ identity: undefined })).not.toContain("/api/task/create")
    expect(idsFor({ identity: undefined })).toContain("/api/task/find")
    expect(idsFor({ identity: { id: "ada", scopes: ["task:write"] } })).toContain(
      "/api/task/create",
    )
    expect(idsFor({ isExposed: ({ namespace }) => namespace === "tree" })).toEqual([
      "/api/tree/other",
      "/api/tree/put",
    ])
    expect(JSON.stringify(documentOf())).not.toContain("secret")
  })

  test("describes the items of a stream: in 3.2 as data of an event", () => {
    const mediaIn = (openapi: "3.1" | "3.2"): unknown => {
      const { responses } = operationAt(
        documentOf(demo, { openapi }),
        "/api/demo/count",
        "get",
      ) as {
        responses: Record<string, { content: Record<string, unknown> }>
      }
      return responses["200"]?.content["text/event-stream"]
    }

    expect(mediaIn("3.1")).toMatchObject({ schema: { properties: { at: { type: "number" } } } })
    expect(mediaIn("3.2")).toMatchObject({
      itemSchema: { properties: { data: { contentSchema: { properties: { at: {} } } } } },
    })
  })

  test("has examples, titles, tags and warnings", () => {
    const { paths } = documentOf()

    expect(paths["/api/task/create"]?.["post"]).toMatchObject({
      operationId: "task.create",
      summary: "Create a task",
      tags: ["tasks", "writing"],
      requestBody: {
        content: { "application/json": { examples: { example1: { value: { title: "Milk" } } } } },
      },
    })
    expect(paths["/api/task/list"]?.["get"]).toMatchObject({ deprecated: true, tags: ["task"] })
  })
})
