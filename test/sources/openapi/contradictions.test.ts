// Documents that contradict themselves or HTTP, and what can be called nevertheless.
import { describe, expect, test } from "vitest"
import { FromOpenAPI, prepareRequest } from "../../../src/from-openapi.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { importOne, oneOperation, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const CONFIG = { namespace: "api", baseUrl: "https://api.test" }

function propertiesOf(spec: Raw): Record<string, unknown> {
  return (importOne(spec).inputSchema as unknown as { properties: Record<string, unknown> })
    .properties
}

describe("a required body of a GET", () => {
  const bodies: readonly [string, Raw][] = [
    ["a list", { type: "array", items: {} }],
    ["any object", { type: "object" }],
    ["an object", { type: "object", properties: { a: {} } }],
    ["anything", {}],
  ]

  test.each(bodies)("that is %s is noted and not offered", async (_what, schema) => {
    const requestBody = { required: true, content: { "application/json": { schema } } }
    const spec = oneOperation("/x", "get", { requestBody })
    const { report } = FromOpenAPI(spec, CONFIG)

    expect(report.counts).toMatchObject({ kept: 0, widened: 1 })
    expect(report.operations[0]?.notes).toEqual([
      {
        pointer: "/paths/~1x/get/requestBody",
        message: "A GET request carries no body: it is left out.",
      },
    ])
    expect(propertiesOf(spec)).toEqual({})
    expect(await prepareRequest(importOne(spec, CONFIG), {})).toMatchObject({ method: "GET" })
    const registry = quietRegistry([importOne(spec, CONFIG)])
    expect(await rejection(registry.execute("api.op", { body: [] }))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })

  test.each([false, true])("in Swagger 2.0 neither, flattened: %s", (flatten) => {
    const parameters = [{ in: "body", name: "b", required: true, schema: { type: "array" } }]
    const responses = { 200: { description: "" } }
    const spec = swagger({ "/x": { get: { operationId: "op", parameters, responses } } })
    const [operation] = FromOpenAPI(spec, { ...CONFIG, flatten })

    expect(operation?.inputSchema).toMatchObject({ properties: {} })
    expect(FromOpenAPI(spec, CONFIG).report.counts).toMatchObject({ widened: 1 })
  })
})

describe("a variable of a path", () => {
  const query = (name: string, more: Raw = {}): Raw => ({
    in: "query",
    name,
    required: true,
    schema: { type: "string" },
    ...more,
  })
  const path = (name: string): Raw => ({
    in: "path",
    name,
    required: true,
    schema: { type: "string" },
  })

  test.each<[string, string, readonly Raw[], Raw, string]>([
    ["in its query", "/s?query={query}", [query("query")], { query: "a b" }, "/s?query=a%20b"],
    ["in its query, of another name", "/s?q={query}", [query("query")], { query: "a" }, "/s?q=a"],
    [
      "in its query, which is optional",
      "/s?query={query}&x=1",
      [query("query", { required: false })],
      {},
      "/s?x=1",
    ],
    ["in another case", "/s/{id}", [path("ID")], { ID: "7" }, "/s/7"],
    [
      "in another case, twice",
      "/s/{id}/{Name}",
      [path("ID"), path("name")],
      { ID: "7", name: "n" },
      "/s/7/n",
    ],
  ])("%s is asked for once, and sent once", async (_what, template, parameters, input, url) => {
    const spec = oneOperation(template, "get", { parameters })
    const { report } = FromOpenAPI(spec, CONFIG)

    expect(report.counts).toMatchObject({ kept: 1, widened: 0 })
    expect(Object.keys(propertiesOf(spec))).toEqual(parameters.map(({ name }) => name))
    const request = await prepareRequest(importOne(spec, CONFIG), input)
    expect(request.url).toBe(`https://api.test${url}`)
  })

  test("in another case is not one that the path has as well", async () => {
    const spec = oneOperation("/s/{id}/{ID}", "get", { parameters: [path("ID")] })

    expect(Object.keys(propertiesOf(spec))).toEqual(["ID", "id"])
    const request = await prepareRequest(importOne(spec, CONFIG), { ID: "a", id: "b" })
    expect(request.url).toBe("https://api.test/s/b/a")
  })

  test("in the path and the query is a path parameter", () => {
    const spec = oneOperation("/s/{query}?query={query}", "get", { parameters: [query("query")] })

    expect(Object.keys(propertiesOf(spec)).toSorted()).toEqual(["query", "query_query"])
  })
})

describe("a text/plain body", () => {
  test.each<[Raw, readonly unknown[], readonly unknown[]]>([
    [{ type: "integer" }, [5, "5", -7], [{}, null, [1]]],
    [{ type: "boolean" }, [true, "true"], [{}]],
    [{ type: ["number", "null"] }, [1.5, null, "1.5"], [{}]],
    [{ type: "string" }, ["5"], [5]],
  ])("of %j takes the value and its text", async (schema, values, others) => {
    const spec = oneOperation("/x", "post", {
      requestBody: { required: true, content: { "text/plain": { schema } } },
    })
    const operation = importOne(spec, CONFIG)
    for (const body of values) {
      expect(compileSchema(operation.inputSchema).check({ body }), JSON.stringify(body)).toBe(true)
      const request = await prepareRequest(operation, { body })
      expect(request).toMatchObject({
        headers: { "content-type": "text/plain" },
        body: body === null ? "" : JSON.stringify(body).replaceAll(`"`, ""),
      })
    }
    for (const body of others) {
      expect(compileSchema(operation.inputSchema).check({ body })).toBe(false)
    }
  })
})

describe("losses in error responses", () => {
  const impossible = { allOf: [{ type: "string" }, { type: "integer" }] }
  const content = { "application/json": { schema: impossible } }

  test("are counted apart from those that callers notice", () => {
    const spec = oneOperation("/x", "get", {
      responses: { 200: { description: "" }, "4XX": { description: "", content } },
    })
    const { report } = FromOpenAPI(spec, CONFIG)

    expect(report.counts).toMatchObject({ kept: 1, widened: 0, widenedErrors: 1 })
    expect(report.operations[0]).toMatchObject({ status: "kept", notes: [{ isError: true }] })
    expect(String(report)).toContain(
      "1 kept, 0 widened, 0 skipped, 1 of them kept except for error",
    )
  })

  test("are not, if a result has the same", () => {
    const schema = { $ref: "#/components/schemas/S" }
    const shared = { "application/json": { schema } }
    const spec = oneOperation(
      "/x",
      "get",
      {
        responses: {
          200: { description: "", content: shared },
          400: { description: "", content: shared },
        },
      },
      { components: { schemas: { S: impossible } } },
    )
    const { report } = FromOpenAPI(spec, CONFIG)

    expect(report.counts).toMatchObject({ kept: 0, widened: 1, widenedErrors: 0 })
    expect(report.operations[0]?.notes).toHaveLength(1)
  })
})
