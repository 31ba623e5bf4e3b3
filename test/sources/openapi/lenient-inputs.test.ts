// `input: "warn"`, for documents that do not agree with their own API.
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { defineOperation } from "../../../src/index.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { apiOf } from "./api.ts"
import type { Api } from "./api.ts"
import { oneOperation } from "./recorder.ts"

const BODY = { type: "object", properties: { id: { type: "string" } }, required: ["id"] }
const SPEC = oneOperation("/x/{key}", "post", {
  parameters: [
    { in: "path", name: "key", required: true, schema: { type: "string" } },
    { in: "query", name: "q", schema: { type: "string", enum: ["a"] } },
  ],
  requestBody: { required: true, content: { "application/json": { schema: BODY } } },
})

async function apiWith(input?: "warn" | "strict"): Promise<Api> {
  return await apiOf(SPEC, (_request, response) => void response.end(), { input })
}

describe("an input that does not match its schema", () => {
  const wrong = { key: 7, q: "b", body: { id: 5 } }

  test("is sent and logged if the import says so", async () => {
    await using api = await apiWith("warn")

    await api.registry.execute("api.op", wrong)
    await api.registry.execute("api.op", wrong)

    expect(api.server.requests).toMatchObject([
      { url: "/x/7?q=b", body: '{"id":5}' },
      { url: "/x/7?q=b", body: '{"id":5}' },
    ])
    // The same operation is logged now and then.
    expect(api.log).toEqual([
      [
        "Input does not match its schema",
        {
          operationId: "api.op",
          requestId: expect.any(String) as string,
          errors: [
            expect.objectContaining({ path: "/key" }) as unknown,
            expect.objectContaining({ path: "/q" }) as unknown,
            expect.objectContaining({ path: "/body/id" }) as unknown,
          ],
        },
      ],
    ])
  })

  test.each([undefined, "strict"] as const)("is refused with input: %s", async (input) => {
    await using api = await apiWith(input)

    expect(await rejection(api.registry.execute("api.op", wrong))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(api.server.requests).toEqual([])
  })

  test.each<[string, unknown]>([
    ["no object", "text"],
    ["without a value for the path", { body: { id: "a" } }],
    ["without a required body", { key: "a" }],
    ["with a path that leads elsewhere", { key: "..", body: {} }],
  ])("is refused where no request can be made of it: %s", async (_what, input) => {
    await using api = await apiWith("warn")

    expect(await rejection(api.registry.execute("api.op", input))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(api.server.requests).toEqual([])
  })

  test("leaves the schema as the document declares it", () => {
    const [lenient] = FromOpenAPI(SPEC, { namespace: "api", input: "warn" })
    const [strict] = FromOpenAPI(SPEC, { namespace: "api" })

    expect(lenient?.inputSchema).toEqual(strict?.inputSchema)
    expect(compileSchema(lenient?.inputSchema).check(wrong)).toBe(false)
  })

  test("is passed to the handler of any operation that is defined so", async () => {
    const echo = defineOperation({
      namespace: "demo",
      name: "echo",
      version: "1.0.0",
      type: "query",
      description: "",
      inputSchema: BODY,
      outputSchema: {},
      input: "warn",
      accessControl: { requiredScopes: [] },
      handler: (input) => input,
    })
    const registry = quietRegistry([echo])

    expect((await registry.execute("demo.echo", { id: 5 })).data).toEqual({ id: 5 })
    expect(() => quietRegistry([{ ...echo, input: "off" as never }])).toThrow('"warn" or "strict"')
  })
})
