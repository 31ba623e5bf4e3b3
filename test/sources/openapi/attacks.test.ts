// What a hostile document, input or server tries, and what comes of it.
import { describe, expect, test } from "vitest"
import { isCallError } from "../../../src/index.ts"
import { FromOpenAPI, FromOpenAPIUrl, prepareRequest } from "../../../src/from-openapi.ts"
import type { PreparedRequest } from "../../../src/from-openapi.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { serve } from "../../http-client/server.ts"
import { quietRegistry, rejection, thrown } from "../../support/operations.ts"
import { importOne, oneOperation, openapi, record, sent } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const OK = { responses: { 200: { description: "" } } }

describe("a path value", () => {
  const spec = oneOperation("/users/{id}/posts", "get", {
    parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
  })

  test.each([
    ["../../admin/delete-all", "..%2F..%2Fadmin%2Fdelete-all"],
    ["..\\admin", "..%5Cadmin"],
    ["x?admin=1#", "x%3Fadmin%3D1%23"],
    ["%2e%2e%2fadmin", "%252e%252e%252fadmin"],
    ["a/b;c=d", "a%2Fb%3Bc%3Dd"],
    ["..;", "..%3B"],
    ["\u2025/admin", "%E2%80%A5%2Fadmin"],
    ["@evil.test", "%40evil.test"],
    ["a\r\nHost: evil", "a%0D%0AHost%3A%20evil"],
  ])("%j stays in its segment", async (id, segment) => {
    expect((await sent(spec, { id })).line).toBe(`GET /users/${segment}/posts HTTP/1.1`)
  })
})

describe("a path of the document", () => {
  test.each([
    "@evil.test/x",
    "//evil.test/x",
    "\\\\evil.test\\x",
    ".evil.test/x",
    ":80/x",
    "/../../x",
    "/a/%2e%2e/%2e%2e/x",
    "/a/..\\..\\x",
    "https://evil.test/x",
    "\t//evil.test",
    "/\u0000x",
  ])("%j leads nowhere but below the base", async (path) => {
    await using server = await record()
    const operation = FromOpenAPI(openapi({ [path]: { get: { operationId: "op", ...OK } } }), {
      namespace: "api",
      baseUrl: `${server.url}/base/`,
    }).find(({ name }) => name === "op")
    if (operation === undefined) return
    const outcome: unknown = await prepareRequest(operation, {}).catch((error: unknown) => error)
    const isRefused = isCallError(outcome, "VALIDATION_ERROR")
    if (!isRefused) await quietRegistry([operation]).execute("api.op", {})

    expect(isRefused || (outcome as PreparedRequest).url.startsWith(`${server.url}/base/`)).toBe(
      true,
    )
    expect(server.requests.every(({ line }) => line.startsWith("GET /base/"))).toBe(true)
    expect(server.requests.length).toBe(isRefused ? 0 : 1)
  })
})

describe("a reference", () => {
  test("of a document without an address is neither fetched nor read", async () => {
    await using server = await serve((_request, response) => response.end('{"type":"string"}'))
    const refs = [
      `${server.url}/schema.json`,
      "file:///etc/passwd",
      "http://169.254.169.254/latest/meta-data",
      "../../etc/passwd",
      "schema.json",
    ]
    const properties = Object.fromEntries(refs.map((ref, index) => [`p${index}`, { $ref: ref }]))
    const operations = FromOpenAPI(
      oneOperation("/x", "post", {
        parameters: [{ $ref: `${server.url}/parameter.json` }],
        requestBody: { content: { "application/json": { schema: { properties } } } },
        responses: { 200: { $ref: `${server.url}/response.json` } },
      }),
      { namespace: "api" },
    )
    const { report } = operations

    expect(server.connections()).toBe(0)
    expect(report.counts).toMatchObject({ kept: 0, widened: 1, skipped: 0 })
    expect(report.operations[0]?.notes).toHaveLength(7)
    for (const { message } of report.operations[0]?.notes ?? []) {
      expect(message).toContain("cannot be followed")
    }
    expect(operations[0]?.inputSchema).toMatchObject({
      properties: { body: { properties: { p0: {}, p1: {} } } },
    })
  })

  test("of a document from the web leads nowhere but to its folder", async () => {
    await using evil = await serve((_request, response) => response.end('{"type":"string"}'))
    await using server = await serve((request, response) => {
      if (request.url !== "/api/openapi.json") return void response.end('{"type":"integer"}')
      const schema = {
        properties: {
          beside: { $ref: "schemas/a.json" },
          above: { $ref: "../secret.json" },
          elsewhere: { $ref: `${evil.url}/x.json` },
          file: { $ref: "file:///etc/passwd" },
        },
      }
      response.end(
        JSON.stringify(
          oneOperation("/x", "post", {
            requestBody: { content: { "application/json": { schema } } },
          }),
        ),
      )
    })
    const operations = await FromOpenAPIUrl(`${server.url}/api/openapi.json`, { namespace: "api" })

    expect(operations[0]?.inputSchema).toMatchObject({
      properties: { body: { properties: { beside: { $ref: "#/$defs/a.json" } } } },
      $defs: { "a.json": { type: "integer" } },
    })
    expect(server.requests.map(({ url }) => url)).toEqual([
      "/api/openapi.json",
      "/api/schemas/a.json",
    ])
    expect(evil.connections()).toBe(0)
    expect(operations.report.operations[0]?.notes).toHaveLength(3)
  })
})

describe("a schema", () => {
  test.each<[string, Raw]>([
    ["itself", { A: { $ref: "#/components/schemas/A" } }],
    [
      "another and back",
      { A: { $ref: "#/components/schemas/B" }, B: { $ref: "#/components/schemas/A" } },
    ],
    ["itself in allOf", { A: { allOf: [{ $ref: "#/components/schemas/A" }, { type: "object" }] } }],
    [
      "itself in its items",
      {
        A: { type: "object", properties: { kids: { items: { $ref: "#/components/schemas/A" } } } },
      },
    ],
    ["itself in not", { A: { not: { $ref: "#/components/schemas/A" } } }],
    ["itself in oneOf", { A: { oneOf: [{ $ref: "#/components/schemas/A" }, { type: "string" }] } }],
    [
      "itself through a property's inside",
      { A: { properties: { a: { $ref: "#/components/schemas/A/properties/a" } } } },
    ],
  ])("that refers to %s imports, and checks values", async (_what, schemas) => {
    const schema = { $ref: "#/components/schemas/A" }
    const spec = oneOperation(
      "/x",
      "post",
      { requestBody: { content: { "application/json": { schema } } } },
      { components: { schemas } },
    )
    const operation = importOne(spec)

    expect(
      compileSchema(operation.inputSchema).check({ body: { kids: [{ kids: [] }] } }),
    ).toBeTypeOf("boolean")
    expect(compileSchema(operation.outputSchema).check({})).toBe(true)
  })

  test("that is 10,000 levels deep is cut, not followed to the end of the stack", () => {
    let schema: Raw = { type: "string" }
    for (let depth = 0; depth < 10_000; depth++) schema = { properties: { a: schema } }
    const spec = oneOperation("/x", "post", {
      requestBody: { content: { "application/json": { schema } } },
    })

    expect(thrown(() => FromOpenAPI(spec, { namespace: "api" }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    const deep = `${'{"properties":{"a":'.repeat(10_000)}{}${"}}".repeat(10_000)}`
    const text = JSON.stringify(
      oneOperation("/x", "get", { parameters: [{ name: "a", in: "query", schema: "DEEP" }] }),
    ).replace('"DEEP"', deep)
    expect(thrown(() => FromOpenAPI(text, { namespace: "api" }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })

  test("may have a pattern that would take for ever: it is left out, and the report says so", async () => {
    const spec = oneOperation("/x", "get", {
      parameters: [{ name: "q", in: "query", schema: { type: "string", pattern: "^(a+)+$" } }],
    })
    const operations = FromOpenAPI(spec, { namespace: "api" })
    const { inputSchema } = operations[0] ?? {}

    expect(inputSchema).toMatchObject({ properties: { q: { type: "string" } } })
    expect(JSON.stringify(inputSchema)).not.toContain("pattern")
    expect(operations.report.counts).toMatchObject({ widened: 1 })
    expect((await sent(spec, { q: `${"a".repeat(50_000)}!` })).line).toContain("%21")
  })

  test("may have properties with the names of an object's own", () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"]
    const properties = JSON.parse(
      `{${names.map((name) => `"${name}":{"type":"integer"}`).join()}}`,
    ) as Raw
    const schema = { type: "object", properties, required: names }
    const operation = importOne(
      oneOperation("/x", "post", {
        requestBody: { required: true, content: { "application/json": { schema } } },
      }),
    )
    const fits = (text: string): boolean =>
      compileSchema(operation.inputSchema).check({ body: JSON.parse(text) as unknown })

    expect(fits('{"__proto__":1,"constructor":2,"toString":3,"hasOwnProperty":4}')).toBe(true)
    expect(fits('{"constructor":2,"toString":3,"hasOwnProperty":4}')).toBe(false)
    expect(fits("{}")).toBe(false)
    expect(({} as Raw)["type"]).toBeUndefined()
  })
})

describe("a document", () => {
  test("that is too large is refused before it is parsed", async () => {
    const text = `{"openapi":"3.1.0","x":"${"x".repeat(2_000_000)}"}`
    await using server = await serve((_request, response) => response.end(text))
    const config = { namespace: "api", maxDocumentBytes: 1_000_000 }

    expect(thrown(() => FromOpenAPI(text, config))).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
    expect(await rejection(FromOpenAPIUrl(server.url, config))).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    })
  })

  test("with 100,000 paths imports, each under its own name", () => {
    const paths: Raw = {}
    for (let index = 0; index < 100_000; index++) {
      paths[`/p/${index}`] = { get: { operationId: "same", ...OK } }
    }
    const operations = FromOpenAPI(openapi(paths), { namespace: "api" })

    expect(new Set(operations.map(({ name }) => name)).size).toBe(100_000)
  })

  test("with operation ids from hell gives safe names", () => {
    const ids = [
      '"; process.exit()//',
      "../../x",
      "x".repeat(300),
      `${"x".repeat(299)}y`,
      "__proto__",
      "constructor",
      "a b",
      "a/b",
      "a_b",
      "💥",
      "",
      ".",
      "a..b",
      "\u0000",
    ]
    const paths = Object.fromEntries(
      ids.map((operationId, index) => [`/p${index}`, { get: { operationId, ...OK } }]),
    )
    const operations = FromOpenAPI(openapi(paths), { namespace: "api" })
    const names = operations.map(({ name }) => name)
    const registry = quietRegistry(operations)

    expect(names).toHaveLength(ids.length)
    expect(new Set(names).size).toBe(ids.length)
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/)
    expect(names.slice(0, 2)).toEqual(["process.exit", "x"])
    expect(registry.list()).toHaveLength(ids.length)
    expect(({} as Raw)["name"]).toBeUndefined()
  })

  test("with `__proto__` for everything that has a name pollutes nothing", () => {
    const text = JSON.stringify(
      openapi(
        {
          "/x/{__proto__}": {
            get: {
              operationId: "__proto__",
              parameters: [{ name: "__proto__", in: "path", required: true, schema: {} }],
              responses: {
                200: { description: "", content: { KEY: { schema: { type: "object" } } } },
              },
              security: [{ KEY: [] }],
            },
          },
        },
        { components: { schemas: { KEY: { isAdmin: true } }, securitySchemes: { KEY: {} } } },
      ),
    ).replaceAll('"KEY"', '"__proto__"')
    const operations = FromOpenAPI(text, { namespace: "api" })

    expect(operations).toHaveLength(1)
    expect(operations.report.operations).toHaveLength(1)
    expect(operations[0]?._meta?.["openapi"]).toMatchObject({
      inputs: [{ key: "__proto__", in: "path", name: "__proto__" }],
    })
    expect(Object.keys(operations[0]?.inputSchema ?? {})).toContain("properties")
    expect(({} as Raw)["isAdmin"]).toBeUndefined()
  })
})
