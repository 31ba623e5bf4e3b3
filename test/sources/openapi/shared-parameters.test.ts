import { describe, expect, test } from "vitest"
import { FromOpenAPI, prepareRequest } from "../../../src/from-openapi.ts"

const responses = { 204: { description: "" } }
const limit = { name: "limit", in: "query", schema: { type: "integer" } }
const id = { name: "id", in: "path", required: true, schema: { type: "string" } }

function importOf(paths: object, more: object = {}): ReturnType<typeof FromOpenAPI> {
  const spec = { openapi: "3.0.3", info: { title: "Pets", version: "1" }, paths, ...more }
  return FromOpenAPI(JSON.stringify(spec), { namespace: "pets", baseUrl: "https://pets.example" })
}

describe("operations that declare the same parameters in the same words", () => {
  test("share their input", () => {
    const get = { parameters: [limit], responses }
    const [first, second, other] = importOf({
      "/a": { get },
      "/b": { get },
      "/c": { get: { parameters: [{ ...limit, required: true }], responses } },
    })

    expect(second?.inputSchema).toBe(first?.inputSchema)
    expect(first?.inputSchema).toMatchObject({ properties: { limit: { type: "integer" } } })
    expect(other?.inputSchema).toMatchObject({ required: ["limit"] })
  })

  test("have inputs of their own where a path or a body adds something", () => {
    const get = { parameters: [limit], responses }
    const content = { "application/json": { schema: { type: "string" } } }
    const operations = importOf({
      "/a": { get },
      "/a/{id}": { parameters: [id], get },
      "/b/{id}": { parameters: [id], get, post: { ...get, requestBody: { content } } },
      "/c/{key}": { get },
    })

    const keys = operations.map(({ inputSchema }) =>
      Object.keys((inputSchema as unknown as { properties: object }).properties),
    )
    expect(keys).toEqual([
      ["limit"],
      ["limit", "id"],
      ["limit", "id"],
      ["limit", "id", "body"],
      ["limit", "key"],
    ])
    expect(operations[2]?.inputSchema).toBe(operations[1]?.inputSchema)
  })

  test("send requests of their own", async () => {
    const get = { parameters: [limit, id], responses }
    const operations = importOf({ "/a/{id}": { get }, "/b/{id}": { get } })

    const urls = operations.map(
      async (operation) => (await prepareRequest(operation, { id: "x", limit: 1 })).url,
    )
    expect(await Promise.all(urls)).toEqual([
      "https://pets.example/a/x?limit=1",
      "https://pets.example/b/x?limit=1",
    ])
  })

  test("are noted each at its own place", () => {
    const broken = { name: "q", in: "query", schema: { type: "string", pattern: "(" } }
    const get = { parameters: [broken, { name: "x" }], responses }
    const operations = importOf({
      "/a": { get },
      "/b": { get },
      "/c": { parameters: [broken], get: { responses } },
      "/d": { parameters: [broken], get: { responses } },
    })
    // Made before: what is shared then has no say in the report.
    for (const { inputSchema } of operations) expect(inputSchema).toBeDefined()

    const pointers = operations.report.operations.map(({ notes }) =>
      notes.map(({ pointer }) => pointer),
    )
    expect(pointers).toEqual([
      ["/paths/~1a/get/parameters/1", "/paths/~1a/get/parameters/0/schema/pattern"],
      ["/paths/~1b/get/parameters/1", "/paths/~1b/get/parameters/0/schema/pattern"],
      ["/paths/~1c/parameters/0/schema/pattern"],
      ["/paths/~1d/parameters/0/schema/pattern"],
    ])
  })

  test("are read one by one where they are too deep to be compared", () => {
    const depth = 60_000
    const deep = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`
    const get = (list: string): string => `{"get":{"parameters":[${list}],"responses":{}}}`
    const parameter = `{"name":"limit","in":"query","example":${deep},"schema":{"type":"integer"}}`
    const text = `{"openapi":"3.0.3","info":{"title":"","version":"1"},"paths":{"/a":${get(parameter)},"/b":${get(parameter)}}}`
    const operations = FromOpenAPI(text, { namespace: "pets" })

    for (const { inputSchema } of operations) {
      expect(inputSchema).toHaveProperty("properties.limit.type", "integer")
    }
  })
})
