import { describe, expect, test } from "vitest"
import { createRegistry } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { AnyRegistry, CallError } from "../../../src/index.ts"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import type { OpenAPIConfig } from "../../../src/from-openapi.ts"
import { serve } from "../../http-client/server.ts"
import type { TestServer } from "../../http-client/server.ts"
import { rejection } from "../../support/operations.ts"

const content = { "application/json": { schema: {} } }
const body = { content: { ...content, "application/octet-stream": { schema: {} } } }
const responses = { default: { description: "", content } }
const header = (name: string, required = false) => ({
  name,
  in: "header",
  required,
  schema: { type: "string" },
})
const document = {
  openapi: "3.1.0",
  info: { title: "Payments", version: "1" },
  paths: {
    "/declared": {
      parameters: [header("Idempotency-Key")],
      get: { operationId: "read", responses },
      post: { operationId: "pay", requestBody: body, responses },
    },
    "/required": {
      post: {
        operationId: "order",
        parameters: [header("X-Request-Key", true)],
        requestBody: body,
        responses,
      },
    },
    "/plain": { post: { operationId: "plain", requestBody: body, responses } },
  },
}

/** The API on a real server. A request with the header `x-fail` has no answer. */
async function api(
  config: Partial<OpenAPIConfig> = {},
): Promise<{ registry: AnyRegistry; server: TestServer } & AsyncDisposable> {
  const server = await serve((request, response) => {
    if (request.headers["x-fail"] !== undefined) request.socket.destroy()
    else response.writeHead(200, { "content-type": "application/json" }).end("{}")
  })
  const operations = FromOpenAPI(document, { namespace: "api", baseUrl: server.url, ...config })
  const registry: AnyRegistry = createRegistry(operations, { logger: silentLogger })
  return {
    registry,
    server,
    async [Symbol.asyncDispose]() {
      await registry.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

const keyed = { idempotencyKey: "k-1" }

describe("the idempotency key of a call to an HTTP API", () => {
  test("is sent in the header that the operation declares, and to no other operation", async () => {
    await using it = await api()
    await it.registry.execute("api.pay", { body: {} }, keyed)
    await it.registry.execute("api.pay", { body: {} })
    await it.registry.execute("api.plain", { body: {} }, keyed)
    await it.registry.execute("api.read", {}, keyed)
    const sent = it.server.headers.map((headers) => headers["idempotency-key"])
    expect(sent).toEqual(["k-1", undefined, undefined, undefined])
  })

  test("gives way to a key in the input", async () => {
    await using it = await api()
    await it.registry.execute("api.pay", { body: {}, "Idempotency-Key": "mine" }, keyed)
    expect(it.server.headers[0]?.["idempotency-key"]).toBe("mine")
  })

  test("is sent in the configured header, which callers need not give then", async () => {
    await using it = await api({ idempotencyHeader: "x-request-key" })
    await it.registry.execute("api.order", { body: {} }, keyed)
    await it.registry.execute("api.plain", { body: {} }, keyed)
    expect(it.server.headers.map((headers) => headers["x-request-key"])).toEqual(["k-1", "k-1"])
    expect(await rejection(it.registry.execute("api.order", { body: {} }))).toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining('"X-Request-Key" is required') as string,
    })
  })

  test("that a header cannot carry is refused before anything is sent", async () => {
    await using it = await api()
    const calling = it.registry.execute("api.pay", { body: {} }, { idempotencyKey: "a\r\nb: c" })
    expect(await rejection(calling)).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(it.server.requests).toEqual([])
  })

  test("makes a lost answer repeatable, unless the key was not sent or the body can be sent only once", async () => {
    await using it = await api({ headers: { "x-fail": "1" } })
    const fail = async (id: string, input: unknown, options = keyed): Promise<boolean> => {
      const error = (await rejection(it.registry.execute(id, input, options))) as CallError
      expect(error).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
      return error.retryable
    }
    expect(await fail("api.pay", { body: {} })).toBe(true)
    expect(await fail("api.pay", { body: {} }, {} as typeof keyed)).toBe(false)
    expect(await fail("api.plain", { body: {} })).toBe(false)
    await using bytes = await api({
      headers: { "x-fail": "1" },
      contentType: "application/octet-stream",
    })
    const upload = bytes.registry.execute("api.pay", { body: new Blob(["x"]) }, keyed)
    expect(await rejection(upload)).toMatchObject({ code: "UNAVAILABLE", retryable: false })
  })
})
