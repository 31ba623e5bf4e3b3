import { describe, expect, test } from "vitest"
import { FromOpenAPI, prepareRequest } from "../../../src/from-openapi.ts"
import type { ImportedOperation } from "../../../src/from-openapi.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"

const CONFIG = { namespace: "api", baseUrl: "https://api.test" }
/** What JSON can say, and `String` cannot take. */
const UNPRINTABLE = { toString: null, valueOf: null }

function first(document: object): ImportedOperation {
  const [operation] = FromOpenAPI({ openapi: "3.1.0", info: {}, ...document }, CONFIG)
  return operation as ImportedOperation
}

function nested(levels: number): unknown {
  let value: unknown = "bottom"
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

// One test for each mutant that went wrong.
describe("what mutants have shown", () => {
  test("an answer whose reference leads nowhere may be anything", () => {
    const { outputSchema } = first({
      paths: { "/a": { get: { responses: { 200: { $ref: "#/components/responses/None" } } } } },
    })

    expect(compileSchema(outputSchema).check({ any: "thing" })).toBe(true)
  })

  test("objects stand where texts should, with a toString that is no function", async () => {
    const operation = first({
      info: { title: UNPRINTABLE, version: UNPRINTABLE },
      servers: [
        { url: "https://{host}", variables: { host: { default: "a", enum: [UNPRINTABLE] } } },
      ],
      security: [{ http: [] }, { key: [] }, { other: [] }, {}],
      paths: { "/a": { get: { operationId: UNPRINTABLE, tags: [UNPRINTABLE] } } },
      components: {
        securitySchemes: {
          http: { type: "http", scheme: UNPRINTABLE },
          key: { type: "apiKey", in: "header", name: UNPRINTABLE },
          other: { type: UNPRINTABLE },
        },
      },
    })

    expect(operation.name).toBe("get_a")
    expect(await prepareRequest(operation, {})).toMatchObject({ url: "https://api.test/a" })
  })

  test("names that are required are texts, also where bodies are flattened", () => {
    const schema = { type: "object", properties: { a: {} }, required: [UNPRINTABLE, "a"] }
    const paths = {
      "/a": { post: { requestBody: { content: { "application/json": { schema } } } } },
    }
    const document = { openapi: "3.1.0", info: {}, paths }

    const [operation] = FromOpenAPI(document, { ...CONFIG, flatten: true })

    expect(operation?.inputSchema).toMatchObject({ properties: { a: {} } })
    expect(operation?._meta).toMatchObject({
      openapi: { inputs: [{ key: "a", in: "body", name: "a" }] },
    })
  })

  test("data that is nested too deep to be written is left out", () => {
    const deep = nested(5000)
    const schema = { type: "array", example: deep, default: deep, enum: [deep], const: deep }
    // Large enough that nobody looks at all of it when it is read.
    const padding = Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [index, {}]))
    const operations = FromOpenAPI(
      {
        openapi: "3.1.0",
        "x-padding": padding,
        info: {},
        paths: {
          "/a": {
            post: {
              parameters: [{ name: "p", in: "query", schema, example: deep }],
              requestBody: { content: { "application/json": { schema, example: deep } } },
            },
          },
        },
      },
      CONFIG,
    )
    const [operation] = operations

    expect(operation?.examples).toBeUndefined()
    expect(operation?.inputSchema).toMatchObject({
      properties: { p: { type: "array" }, body: { type: "array" } },
    })
    expect(JSON.stringify(operation).length).toBeLessThan(3000)
    expect(String(operations.report)).toContain('"enum" must be less deep')
  })
})
