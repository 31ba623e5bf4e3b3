// Streams of gRPC gateways: JSON values in a row under application/json, each with a result or an error.
import type { ServerResponse } from "node:http"
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { collect, until } from "../../http-client/server.ts"
import { rejection } from "../../support/operations.ts"
import { apiOf } from "./api.ts"
import { oneOperation, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const EVENT = { type: "object", properties: { at: { type: "integer" } }, required: ["at"] }
const STATUS = { type: "object", properties: { code: { type: "integer" } } }
const RESULT = {
  type: "object",
  title: "Stream result of v1WatchEvent",
  properties: { result: EVENT, error: STATUS },
}

const legacy = (schema: Raw, more: Raw = {}): Raw =>
  swagger(
    { "/x": { get: { operationId: "op", responses: { 200: { description: "", schema } } } } },
    { produces: ["application/json"], ...more },
  )
const modern = (schema: Raw, method = "get", more: Raw = {}): Raw =>
  oneOperation(
    "/x",
    method,
    { responses: { 200: { description: "", content: { "application/json": { schema } } } } },
    more,
  )

const STREAMS: readonly [string, Raw][] = [
  ["Swagger 2.0", legacy(RESULT)],
  [
    "the older generator",
    legacy(
      { $ref: "#/x-stream-definitions/v1WatchEvent" },
      {
        "x-stream-definitions": { v1WatchEvent: RESULT },
      },
    ),
  ],
  ["OpenAPI 3", modern(RESULT)],
  ["a mutation", modern(RESULT, "post")],
  [
    "a named schema",
    modern({ $ref: "#/components/schemas/StreamResultOfV1WatchEvent" }, "get", {
      components: { schemas: { StreamResultOfV1WatchEvent: RESULT } },
    }),
  ],
]

const answer =
  (...texts: readonly string[]) =>
  (_request: unknown, response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "application/json" })
    for (const text of texts) response.write(text)
    response.end()
  }

describe("a stream of a gRPC gateway", () => {
  test.each(STREAMS)("is a subscription of its results: %s", async (_what, spec) => {
    const lines = ['{"result":{"at":1}}\n{"res', 'ult":{"at":2}}\n']
    await using api = await apiOf(spec, answer(...lines))
    const [operation, ...others] = FromOpenAPI(spec, { namespace: "api" })

    expect(others).toEqual([])
    expect(operation).toMatchObject({ type: "subscription", outputSchema: EVENT })
    const items = await collect(api.registry.subscribe("api.op", {}))
    expect(items.map(({ data }) => data)).toEqual([{ at: 1 }, { at: 2 }])
    expect(api.server.headers[0]).toMatchObject({ accept: "application/json" })
    expect(api.log).toEqual([])
  })

  test("may have no line feeds, or many", async () => {
    const text = '{"result":{"at":1}}{\n  "result": {\n    "at": 2\n  }\n}'
    await using api = await apiOf(legacy(RESULT), answer(text))

    const items = await collect(api.registry.subscribe("api.op", {}))
    expect(items.map(({ data }) => data)).toEqual([{ at: 1 }, { at: 2 }])
  })

  test("fails with the error that is sent in the place of a result", async () => {
    const text = '{"result":{"at":1}}\n{"error":{"code":5,"message":"No such\\nworkflow"}}\n'
    await using api = await apiOf(legacy(RESULT), answer(text))
    const stream = api.registry.subscribe("api.op", {})

    expect((await stream.next()).value).toMatchObject({ data: { at: 1 } })
    expect(await rejection(stream.next())).toMatchObject({
      code: "EXECUTION_ERROR",
      message: 'The stream of "api.op" failed: No such workflow',
      details: { body: { code: 5, message: "No such\nworkflow" } },
    })
  })

  test("yields items without a result as they are", async () => {
    await using api = await apiOf(legacy(RESULT), answer('{"at":1}\n{"result":null}\n'))

    const items = await collect(api.registry.subscribe("api.op", {}))
    expect(items.map(({ data }) => data)).toEqual([{ at: 1 }, null])
  })

  test("that never ends is left early", async () => {
    await using api = await apiOf(legacy(RESULT), (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.write('{"result":{"at":1}}\n')
    })
    for await (const { data } of api.registry.subscribe("api.op", {})) {
      expect(data).toEqual({ at: 1 })
      break
    }

    await until(() => api.server.open() === 0)
  })

  test.each<[string, Raw]>([
    ["has another title", { ...RESULT, title: "Result of v1WatchEvent" }],
    ["has no result", { ...RESULT, properties: { error: STATUS } }],
    ["is no schema", "Stream result of v1WatchEvent" as unknown as Raw],
  ])("is none if its schema %s", (_what, schema) => {
    expect(FromOpenAPI(modern(schema), { namespace: "api" })[0]?.type).toBe("query")
  })
})
