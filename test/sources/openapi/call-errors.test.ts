import { describe, expect, test } from "vitest"
import { CallError, ErrorCode, isDeclaredError } from "../../../src/index.ts"
import { deadUrl, serveRaw, until } from "../../http-client/server.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { apiOf } from "./api.ts"
import type { Api } from "./api.ts"
import { importOne, oneOperation } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const problem = {
  type: "object",
  properties: { message: { type: "string" }, code: { type: "integer" } },
  required: ["message"],
}

function failing(responses: Raw, method = "get"): Raw {
  return oneOperation("/x", method, { responses: { 200: { description: "" }, ...responses } })
}

async function answering(
  status: number,
  body: string,
  responses: Raw = {},
  headers: Readonly<Record<string, string>> = {},
  method = "get",
): Promise<Api> {
  return await apiOf(failing(responses, method), (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(body)
  })
}

function content(schema: unknown = problem): Raw {
  return { description: "Wrong", content: { "application/json": { schema } } }
}

describe("an HTTP error", () => {
  test("says what came, from where, and in the server's own words", async () => {
    await using api = await answering(404, '{"message":"no such pet"}', {}, { "x-id": "7" })
    const error = await rejection(api.registry.execute("api.op", {}))

    expect(error).toBeInstanceOf(CallError)
    expect(error).toMatchObject({
      code: ErrorCode.EXECUTION_ERROR,
      operationId: "api.op",
      message: `HTTP 404 Not Found from GET ${api.server.url}/x: no such pet`,
      details: {
        statusCode: 404,
        headers: { "x-id": "7", "content-type": "application/json" },
        body: { message: "no such pet" },
      },
      retryable: false,
      mayHaveExecuted: false,
    })
  })

  test.each([
    [408, "get", true],
    [425, "get", true],
    [429, "post", true],
    [502, "get", true],
    [502, "post", false],
    [503, "post", true],
    [504, "put", true],
    [500, "get", false],
    [501, "get", false],
    [400, "get", false],
  ])("%i to %s: retryable is %s", async (status, method, retryable) => {
    await using api = await answering(status, "", {}, {}, method)

    expect(await rejection(api.registry.execute("api.op", {}))).toMatchObject({
      retryable,
      details: { statusCode: status },
    })
  })

  test("says when to come back", async () => {
    await using api = await answering(429, "", {}, { "retry-after": "3" })

    expect(await rejection(api.registry.execute("api.op", {}))).toMatchObject({
      retryAfterMs: 3000,
      retryable: true,
    })
  })

  test("of 500 to a POST may have done something; of 400 it has not", async () => {
    await using broken = await answering(500, "", {}, {}, "post")
    await using refused = await answering(400, "", {}, {}, "post")

    expect(await rejection(broken.registry.execute("api.op", {}))).toMatchObject({
      mayHaveExecuted: true,
    })
    expect(await rejection(refused.registry.execute("api.op", {}))).toMatchObject({
      mayHaveExecuted: false,
    })
  })

  test("with a page for people has its title in the message, and its text in the details", async () => {
    await using api = await answering(
      502,
      `<html><title>Bad gateway</title>${"x".repeat(50_000)}`,
      {},
      { "content-type": "text/html" },
    )
    const error = (await rejection(api.registry.execute("api.op", {}))) as CallError
    const { body } = error.details as { body: string }

    expect(error.message).toMatch(/: Bad gateway$/)
    expect(body.length).toBeLessThan(17_000)
    expect(body.endsWith("…")).toBe(true)
  })
})

describe("a declared error", () => {
  test.each([
    ["its own code", { 404: content(), "4XX": content({}), default: content({}) }, "HTTP_404"],
    ["the code's range", { "4XX": content(), default: content({}) }, "HTTP_4XX"],
    ["the range in small letters", { "4xx": content() }, "HTTP_4XX"],
    ["default", { default: content(), 500: content({}) }, "HTTP_DEFAULT"],
  ])("is known by %s", async (_what, responses, declared) => {
    await using api = await answering(404, '{"message":"gone","more":1}', responses)
    const error = await rejection(api.registry.execute("api.op", {}))

    expect(error).toMatchObject({ details: { declared, body: { message: "gone", more: 1 } } })
    expect(api.log).toEqual([])
  })

  test("that is not as declared is given as it came, with a warning", async () => {
    await using api = await answering(404, '{"message":5}', { 404: content() })
    const error = await rejection(api.registry.execute("api.op", {}))

    expect(error).toMatchObject({ details: { statusCode: 404, body: { message: 5 } } })
    expect((error as CallError).details).not.toHaveProperty("declared")
    expect(api.log[0]?.[0]).toContain("does not match its schema")
  })

  test("is in the spec, with the schema of its details", () => {
    const operation = importOne(failing({ 404: content(), "5XX": { description: "Broken" } }))
    const [first, second] = operation.errorSchemas ?? []

    expect(first).toMatchObject({
      code: "HTTP_404",
      description: "Wrong",
      httpStatus: 404,
      schema: { properties: { statusCode: { const: 404 }, body: problem } },
    })
    expect(second).toMatchObject({ code: "HTTP_5XX", description: "Broken" })
    expect(second).not.toHaveProperty("httpStatus")
    expect(isDeclaredError).toBeTypeOf("function")
  })
})

describe("a connection that fails", () => {
  const spec = failing({}, "post")

  test("is UNAVAILABLE, each in its own words", async () => {
    await using closing = await serveRaw((socket) => socket.destroy())
    await using short = await serveRaw((socket) =>
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"),
    )
    await using odd = await serveRaw((socket) => socket.end("SMTP ready\r\n\r\n"))
    const addresses = {
      refused: await deadUrl(),
      dns: "http://no-such-host.invalid",
      closed: closing.url,
      length: short.url,
      protocol: odd.url,
      tls: closing.url.replace("http:", "https:"),
    }
    const words = new Set<string>()
    for (const [kind, baseUrl] of Object.entries(addresses)) {
      const registry = quietRegistry([importOne(spec, { baseUrl })])
      const error = (await rejection(registry.execute("api.op", {}))) as CallError
      words.add(error.message.replace(/ to \S+/, ""))

      expect(error, kind).toMatchObject({ code: "UNAVAILABLE", operationId: "api.op" })
      expect(error.message, kind).toContain(new URL(baseUrl).origin)
      const wasSent = ["closed", "length", "protocol"].includes(kind)
      expect(error.mayHaveExecuted, kind).toBe(wasSent)
    }
    expect(words.size).toBe(Object.keys(addresses).length)
  })
})

describe("time", () => {
  const spec = failing({})

  test("that runs out closes the connection: the user's limit", async () => {
    await using api = await apiOf(spec, () => undefined, { timeout: 30 })
    const error = await rejection(api.registry.execute("api.op", {}))

    expect(error).toMatchObject({ code: "TIMEOUT", operationId: "api.op" })
    await until(() => api.server.open() === 0)
  })

  test("that runs out in the middle of a body does too: the caller's", async () => {
    await using api = await apiOf(spec, (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.write("[")
    })
    const error = await rejection(api.registry.execute("api.op", {}, { timeout: 30 }))

    expect(error).toMatchObject({ code: "TIMEOUT" })
    await until(() => api.server.open() === 0)
  })

  test("taken by the caller: an abort closes the connection", async () => {
    await using api = await apiOf(spec, () => undefined)
    const controller = new AbortController()
    const call = rejection(api.registry.execute("api.op", {}, { signal: controller.signal }))
    await until(() => api.server.open() === 1)
    controller.abort()

    expect(await call).toMatchObject({ code: "ABORTED" })
    await until(() => api.server.open() === 0)
  })

  test("of one who has gone already: nothing is sent", async () => {
    await using api = await apiOf(spec, (_request, response) => response.end())
    const error = await rejection(
      api.registry.execute("api.op", {}, { signal: AbortSignal.abort() }),
    )

    expect(error).toMatchObject({ code: "ABORTED" })
    expect(api.server.connections()).toBe(0)
  })
})

describe("an input that the document does not allow", () => {
  test("is refused by name, before anything is sent", async () => {
    const input = oneOperation("/x/{id}", "post", {
      parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
      requestBody: { required: true, content: { "application/json": { schema: problem } } },
    })
    await using api = await apiOf(input, (_request, response) => response.end())
    const wrong: readonly (readonly [unknown, string])[] = [
      [{ body: { message: "x" } }, "/id is required"],
      [{ id: "7", body: { message: "x" } }, "/id must be integer"],
      [{ id: 7 }, "/body is required"],
      [{ id: 7, body: {} }, "/body/message is required"],
      [{ id: 7, body: { message: "x" }, other: 1 }, "/other"],
      [[7], "must be object"],
      ["7", "must be object"],
    ]
    for (const [value, words] of wrong) {
      const error = await rejection(api.registry.execute("api.op", value))

      expect(error).toMatchObject({ code: "VALIDATION_ERROR" })
      expect(String(error)).toContain(words)
    }
    expect(api.server.requests).toEqual([])
  })
})
