import type { ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { CallError } from "../../../src/index.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { apiOf } from "./api.ts"
import type { Api } from "./api.ts"
import { importOne, oneOperation, sent, swagger } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

/** An API that answers with this, whatever its document says. */
async function answering(
  type: string | undefined,
  body: string | Uint8Array,
  content: Raw = { "application/json": { schema: {} } },
  status = 200,
): Promise<Api> {
  const spec = oneOperation("/x", "get", {
    responses: { [status]: { description: "", content } },
  })
  return await apiOf(spec, (_request, response) => {
    response.writeHead(status, type === undefined ? {} : { "content-type": type })
    response.end(body)
  })
}

describe("what is asked for", () => {
  test("is what the document declares, JSON first", async () => {
    const content = { "text/csv": {}, "application/hal+json": {}, "application/json": {} }
    const spec = oneOperation("/x", "get", {
      responses: { 200: { description: "", content }, 404: { content: { "text/x": {} } } },
    })
    const legacy = swagger(
      { "/x": { get: { operationId: "op", responses: { 200: { description: "" } } } } },
      { produces: ["application/xml", "application/json"] },
    )

    expect((await sent(spec)).headers).toEqual({
      accept: "application/json, application/hal+json, text/csv",
    })
    expect((await sent(legacy)).headers).toEqual({ accept: "application/json, application/xml" })
  })
})

describe("a result", () => {
  test("comes in an envelope with status, headers and content type", async () => {
    const spec = oneOperation("/x", "get", {})
    await using api = await apiOf(spec, (_request, response) => {
      response.setHeader("date", "today")
      response.writeHead(201, {
        "content-type": "application/json; charset=utf-8",
        "x-rate-limit": "5",
        "set-cookie": ["a=1", "b=2"],
        authorization: "Bearer x",
        "x-auth-token": "y",
        connection: "close",
      })
      response.end('{"id":1}')
    })

    expect(await api.registry.execute("api.op", {})).toEqual({
      data: { id: 1 },
      meta: {
        source: "http",
        statusCode: 201,
        headers: {
          "content-type": "application/json; charset=utf-8",
          "x-rate-limit": "5",
          connection: "close",
          date: "today",
          "transfer-encoding": "chunked",
        },
        contentType: "application/json; charset=utf-8",
      },
    })
  })

  const bytes = new Uint8Array([0, 1, 255])
  test.each<[string | undefined, string | Uint8Array, unknown]>([
    ["application/json", '{"a":[1]}', { a: [1] }],
    ["application/problem+json; charset=utf-8", "[1]", [1]],
    ["application/json;odata.metadata=minimal", "1", 1],
    ["application/json", "null", null],
    ["text/plain", "12", "12"],
    ["text/plain; charset=iso-8859-1", new Uint8Array([0xe9]), "é"],
    ["text/html", "<p>", "<p>"],
    ["application/xml", "<a/>", "<a/>"],
    ["application/pdf", bytes, bytes],
    ["image/png", bytes, bytes],
    ["application/octet-stream", "text", new TextEncoder().encode("text")],
    [undefined, '{"a":1}', { a: 1 }],
    [undefined, "text", "text"],
    [undefined, bytes, bytes],
  ])("of %s is what that says", async (type, body, expected) => {
    await using api = await answering(type, body)

    expect((await api.registry.execute("api.op", {})).data).toEqual(expected)
    expect(api.log).toEqual([])
  })

  test.each([
    ["204", "get", 204, ""],
    ["205", "get", 205, ""],
    ["an empty body", "get", 200, ""],
    ["spaces", "get", 200, " \n"],
    ["HEAD", "head", 200, ""],
  ])("of %s is nothing", async (_what, method, status, body) => {
    const spec = oneOperation("/x", method, {
      responses: { [status]: { description: "", content: { "application/json": {} } } },
    })
    await using api = await apiOf(spec, (_request, response) => {
      response.writeHead(status, { "content-type": "application/json" })
      response.end(body)
    })
    const envelope = await api.registry.execute("api.op", {})

    expect(envelope.data).toBeUndefined()
    expect(envelope.meta).toMatchObject({ statusCode: status })
    expect(api.log).toEqual([])
  })

  test("that is compressed is read", async () => {
    await using api = await apiOf(oneOperation("/x", "get", {}), (_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
      response.end(gzipSync('"é"'))
    })

    expect((await api.registry.execute("api.op", {})).data).toBe("é")
  })

  test("that is a page where JSON was announced is its text, with a warning", async () => {
    await using api = await answering("application/json", "<html><p>Gateway</p></html>")

    expect((await api.registry.execute("api.op", {})).data).toBe("<html><p>Gateway</p></html>")
    expect(api.log).toHaveLength(1)
    expect(api.log[0]?.[0]).toContain("not JSON")
    expect(api.log[0]?.[0]).toContain("<html>")
    expect(api.log[0]?.[1]).toMatchObject({ operationId: "api.op" })
  })

  test("with `__proto__` in it pollutes nothing", async () => {
    await using api = await answering("application/json", '{"__proto__":{"isAdmin":true}}')
    const { data } = await api.registry.execute("api.op", {})

    expect(JSON.stringify(data)).toBe('{"__proto__":{"isAdmin":true}}')
    expect((data as { isAdmin?: unknown }).isAdmin).toBeUndefined()
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined()
  })
})

describe("a result that is not as the document says", () => {
  const schema = {
    type: "object",
    properties: { paid: { type: "boolean", default: true }, state: { enum: ["a", "b"] } },
    required: ["paid"],
    additionalProperties: false,
  }

  test.each([
    ["something else", { error: "down" }],
    ["a new property", { paid: true, extra: 1 }],
    ["a new word", { paid: true, state: "c" }],
    ["a list", []],
  ])("%s is given as it came, with a warning", async (_what, body) => {
    await using api = await answering("application/json", JSON.stringify(body), {
      "application/json": { schema },
    })

    expect((await api.registry.execute("api.op", {})).data).toEqual(body)
    expect(api.log).toEqual([
      ["Output does not match its schema", expect.objectContaining({ operationId: "api.op" })],
    ])
  })

  test("what is as it says is given without one, and nothing is made up", async () => {
    await using api = await answering("application/json", '{"paid":false}', {
      "application/json": { schema },
    })

    expect((await api.registry.execute("api.op", {})).data).toEqual({ paid: false })
    expect(api.log).toEqual([])
  })

  test("bytes fit where bytes are declared", async () => {
    await using api = await answering("application/pdf", new Uint8Array([1]), {
      "application/pdf": { schema: { type: "string", format: "binary" } },
    })

    expect((await api.registry.execute("api.op", {})).data).toEqual(new Uint8Array([1]))
    expect(api.log).toEqual([])
  })
})

describe("a scalar in text/plain", () => {
  const plain = (schema: Raw): Raw => ({ "text/plain": { schema } })

  test.each<[Raw, string, unknown]>([
    [{ type: "integer" }, "12", 12],
    [{ type: "integer", format: "int32" }, " -7\r\n", -7],
    [{ type: "number" }, "1.5e3", 1500],
    [{ type: "boolean" }, "true", true],
    [{ type: "boolean" }, "False", false],
    [{ type: "integer", nullable: true }, "null", null],
    [{ type: ["number", "null"] }, "0.5", 0.5],
    [{ type: "string" }, "12", "12"],
    [{ type: ["string", "integer"] }, "12", "12"],
    [{}, "12", "12"],
  ])("%j: %j is %j", async (schema, body, expected) => {
    await using api = await answering("text/plain; charset=utf-8", body, plain(schema))
    const off = FromOpenAPI(
      oneOperation("/x", "get", { responses: { 200: { content: plain(schema) } } }),
      { namespace: "api", baseUrl: api.server.url, normalize: "off" },
    )

    expect((await api.registry.execute("api.op", {})).data).toEqual(expected)
    expect((await quietRegistry(off).execute("api.op", {})).data).toEqual(expected)
    expect(api.log).toEqual([])
  })

  test.each<[Raw, string]>([
    [{ type: "integer" }, "many"],
    [{ type: "integer" }, "1.5"],
    [{ type: "integer" }, "9007199254740993"],
    [{ type: "boolean" }, "1"],
  ])("%j: %j stays text, with a warning", async (schema, body) => {
    await using api = await answering("text/plain", body, plain(schema))

    expect((await api.registry.execute("api.op", {})).data).toEqual(body)
    expect(api.log).toHaveLength(1)
  })

  test("is described as what it is, and the operation is kept", () => {
    const operations = FromOpenAPI(
      {
        ...oneOperation("/x/$count", "get", {
          responses: { "2XX": { $ref: "#/components/responses/Count" } },
        }),
        components: {
          responses: {
            Count: {
              description: "",
              content: { "text/plain": { schema: { $ref: "#/components/schemas/Count" } } },
            },
          },
          schemas: { Count: { type: "integer", format: "int32" } },
        },
      },
      { namespace: "api" },
    )

    expect(compileSchema(operations[0]?.outputSchema as object).check(12)).toBe(true)
    expect(compileSchema(operations[0]?.outputSchema as object).check("12")).toBe(false)
    expect(operations.report.counts).toMatchObject({ kept: 1, widened: 0 })
  })

  test("of Swagger 2.0 is read too, and an object in text/plain stays text", async () => {
    const legacy = swagger(
      { "/x": { get: { operationId: "op", responses: { 200: { schema: { type: "boolean" } } } } } },
      { produces: ["text/plain"] },
    )
    await using api = await apiOf(legacy, (_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).end("true")
    })
    await using other = await answering("text/plain", '{"a":1}', plain({ type: "object" }))

    expect((await api.registry.execute("api.op", {})).data).toBe(true)
    expect((await other.registry.execute("api.op", {})).data).toBe('{"a":1}')
  })
})

describe("integers beyond 2^53", () => {
  const body = '{"id":9007199254740993,"ids":[ -123456789012345678901 , 1],"f":1.00000000000000001}'
  const schema = {
    type: "object",
    properties: {
      id: { type: "integer", format: "int64", minimum: 1 },
      ids: { type: "array", items: { type: ["number", "null"] } },
      f: { oneOf: [{ type: "number" }, { type: "string" }] },
    },
    additionalProperties: false,
  }
  const spec = oneOperation("/x", "get", {
    responses: { 200: { description: "", content: { "application/json": { schema } } } },
  })
  const answer = (_request: unknown, response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "application/json" }).end(body)
  }

  test("lose digits, with a warning that names one and the cure", async () => {
    await using api = await apiOf(spec, answer)
    const { data } = await api.registry.execute("api.op", {})

    expect(data).toMatchObject({ ids: [-123456789012345680000, 1] })
    expect(api.log).toEqual([
      [expect.stringContaining("9007199254740993"), { operationId: "api.op" }],
    ])
    expect(api.log[0]?.[0]).toContain('bigint: "text"')
  })

  test("are strings with bigint: text, which the schema allows", async () => {
    await using api = await apiOf(spec, answer, { bigint: "text", output: "strict" })
    const { data } = await api.registry.execute("api.op", {})

    expect(data).toEqual({ id: "9007199254740993", ids: ["-123456789012345678901", 1], f: 1 })
    expect(api.log).toEqual([])
  })

  test("within strings, and in texts that hold none, say nothing", async () => {
    const text = '{"a":"9007199254740993","b":"\\"9007199254740993","c":9007199254740991}'
    await using api = await answering("application/json", text)

    expect((await api.registry.execute("api.op", {})).data).toEqual(JSON.parse(text))
    expect(api.log).toEqual([])
  })
})

describe("JSON that ends in the middle", () => {
  test.each(['{"items":[{"id":1},{"i', '["a', "[1,2", '{"a":{"b":"\\'])(
    "%j is an error with what was received",
    async (body) => {
      await using api = await answering("application/json", body)
      const error = await rejection(api.registry.execute("api.op", {}))

      expect(error).toMatchObject({
        code: "DATA_LOSS",
        operationId: "api.op",
        mayHaveExecuted: true,
        retryable: true,
        details: { statusCode: 200, reason: "truncated", body },
      })
    },
  )

  test("is not tried again where that could do harm", async () => {
    await using api = await apiOf(oneOperation("/x", "post", {}), (_request, response) => {
      response.writeHead(201, { "content-type": "application/json" }).end('{"id":')
    })

    expect(await rejection(api.registry.execute("api.op", {}))).toMatchObject({
      code: "DATA_LOSS",
      retryable: false,
      mayHaveExecuted: true,
      details: { statusCode: 201 },
    })
  })

  test("does not hide a status that is a failure", async () => {
    await using api = await answering("application/json", '{"error":"d', undefined, 400)

    expect(await rejection(api.registry.execute("api.op", {}))).toMatchObject({
      code: "EXECUTION_ERROR",
      details: { statusCode: 400, body: '{"error":"d' },
    })
  })
})

describe("headers that hold cookies or credentials", () => {
  const answer = (_request: unknown, response: ServerResponse): void => {
    response.writeHead(200, {
      "content-type": "application/json",
      "set-cookie": ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2"],
      "x-auth-token": "y",
    })
    response.end("{}")
  }

  test("are given where they are requested, and only those", async () => {
    await using api = await apiOf(oneOperation("/x", "get", {}), answer, {
      exposeHeaders: ["Set-Cookie"],
    })
    const { meta } = await api.registry.execute("api.op", {})

    expect(meta).toMatchObject({
      headers: { "set-cookie": "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT\nb=2" },
    })
    expect(meta).not.toHaveProperty("headers.x-auth-token")
  })

  test("are not given otherwise, and one that did not come is not there", async () => {
    await using api = await apiOf(oneOperation("/x", "get", {}), answer, {
      exposeHeaders: ["x-session-token", "content-type"],
    })
    const { meta } = await api.registry.execute("api.op", {})

    expect(meta).not.toHaveProperty("headers.set-cookie")
    expect(meta).not.toHaveProperty("headers.x-session-token")
    expect(meta).toMatchObject({ headers: { "content-type": "application/json" } })
  })
})

describe("a result that is too much", () => {
  test("is refused at the limit, before or after decompression", async () => {
    const spec = oneOperation("/x", "get", {
      parameters: [{ name: "zip", in: "query", schema: { type: "boolean" } }],
    })
    await using api = await apiOf(
      spec,
      (request, response) => {
        const isZip = request.url?.includes("zip=true") === true
        const body = JSON.stringify("a".repeat(100_000))
        response.writeHead(200, {
          "content-type": "application/json",
          ...(isZip && { "content-encoding": "gzip" }),
        })
        response.end(isZip ? gzipSync(body) : body)
      },
      { maxResponseBytes: 10_000 },
    )
    for (const zip of [true, false]) {
      const error = await rejection(api.registry.execute("api.op", { zip }))

      expect(error).toBeInstanceOf(CallError)
      expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE", operationId: "api.op" })
      expect(String(error)).toContain("maxResponseBytes")
    }
  })

  test("is refused when it is nested without end", async () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`
    await using api = await answering("application/json", deep)

    expect(await rejection(api.registry.execute("api.op", {}))).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    })
  })
})

describe("an operation whose only answer is a redirect", () => {
  const spec = oneOperation("/artifact", "get", { responses: { 302: { description: "" } } })

  test("gives what is there, within its origin", async () => {
    await using api = await apiOf(spec, (request, response) => {
      if (request.url === "/artifact") response.writeHead(302, { location: "/blob" }).end()
      else response.writeHead(200, { "content-type": "application/zip" }).end(Buffer.from([80, 75]))
    })

    expect(await api.registry.execute("api.op", {})).toMatchObject({
      data: new Uint8Array([80, 75]),
      meta: { statusCode: 200, contentType: "application/zip" },
    })
  })
  test("gives the redirect itself, where the user wants that", async () => {
    await using api = await apiOf(
      spec,
      (_request, response) =>
        void response.writeHead(302, { location: "https://blobs.test/1" }).end(),
      { redirect: "return" },
    )

    expect(await api.registry.execute("api.op", {})).toMatchObject({
      data: undefined,
      meta: { statusCode: 302, headers: { location: "https://blobs.test/1" } },
    })
    expect(api.log).toEqual([])
  })
})

describe("a fetch of the user's own", () => {
  test("is asked for each call, with all that is to be sent", async () => {
    const seen: [unknown, RequestInit | undefined][] = []
    const operation = importOne(oneOperation("/x", "post", {}), {
      baseUrl: "https://api.test",
      auth: "t0ken",
      fetch: async (url, init) => {
        seen.push([url, init])
        return Response.json({ from: "mine" })
      },
    })
    const envelope = await quietRegistry([operation]).execute("api.op", {})

    expect(envelope.data).toEqual({ from: "mine" })
    expect(seen).toEqual([
      [
        "https://api.test/x",
        expect.objectContaining({
          method: "POST",
          headers: { authorization: "Bearer t0ken" },
          redirect: "manual",
          signal: expect.any(AbortSignal) as unknown,
        }),
      ],
    ])
  })
})
