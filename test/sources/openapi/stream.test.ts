// Streams of every kind, from a real server through a registry.
import type { ServerResponse } from "node:http"
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import type { OperationRegistry, ResponseEnvelope } from "../../../src/index.ts"
import { collect, until } from "../../http-client/server.ts"
import { rejection } from "../../support/operations.ts"
import { apiOf } from "./api.ts"
import { oneOperation } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const SSE = "text/event-stream"

function streaming(type: string, media: Raw = { schema: { type: "object" } }): Raw {
  return oneOperation("/x", "get", {
    responses: { 200: { description: "", content: { [type]: media } } },
  })
}

function say(response: ServerResponse, type: string, text: string): ServerResponse {
  response.writeHead(200, { "content-type": type })
  response.write(text)
  return response
}

async function items(
  registry: OperationRegistry,
  id = "api.op",
  input: Raw = {},
): Promise<unknown[]> {
  return (await collect(registry.subscribe(id, input))).map(({ data }) => data)
}

describe("an event stream", () => {
  test("gives an envelope for each event, with its name, id and retry", async () => {
    await using api = await apiOf(streaming(SSE), (_request, response) => {
      say(
        response,
        SSE,
        '\uFEFF: hello\n\nevent: tick\nid: 1\nretry: 50\ndata: {"at":1}\n\n' +
          'data: {"at":\r\ndata: 2}\r\n\r\ndata: text\rid: 3\r\r',
      ).end()
    })
    const all = await collect(api.registry.subscribe("api.op", {}))

    expect(all).toEqual([
      {
        data: { at: 1 },
        meta: {
          source: "http",
          statusCode: 200,
          headers: expect.objectContaining({ "content-type": SSE }) as unknown,
          contentType: SSE,
          event: { name: "tick", id: "1", retry: 50 },
        },
      },
      expect.objectContaining({ data: { at: 2 } }),
      expect.objectContaining({ data: "text" }),
    ])
    expect(all[1]?.meta).not.toHaveProperty("event")
    expect(all[2]?.meta).toMatchObject({ event: { id: "3" } })
    expect(api.server.headers[0]?.accept).toBe(SSE)
  })

  test("is a subscription, whatever its method", () => {
    const [operation] = FromOpenAPI(streaming(SSE), { namespace: "api" })

    expect(operation).toMatchObject({ name: "op", type: "subscription" })
  })

  test.each<[string, Raw, unknown[], Raw]>([
    ["its data, of a schema", { schema: { type: "integer" } }, [1, "x"], { type: "integer" }],
    [
      "its data, of an itemSchema",
      { itemSchema: { type: "integer" } },
      [1, "x"],
      { type: "integer" },
    ],
    ["its data, parsed where it parses, without a schema", {}, [1, "x"], {}],
    ["text, of a string", { schema: { type: "string" } }, ["1", "x"], { type: "string" }],
    ["text, of an itemSchema that is a string", { itemSchema: { type: "string" } }, ["1", "x"], {}],
    ["text, of a string or null", { schema: { type: ["string", "null"] } }, ["1", "x"], {}],
    ["text, of words", { schema: { enum: ["1", "x"] } }, ["1", "x"], {}],
    [
      "text, of strings by alternatives",
      { schema: { anyOf: [{ type: "string", minLength: 1 }, { const: "" }] } },
      ["1", "x"],
      {},
    ],
    [
      "its data, where it may be a string",
      { schema: { anyOf: [{ type: "string" }, { type: "integer" }] } },
      [1, "x"],
      {},
    ],
    [
      "the event with text, where its data is a string",
      {
        itemSchema: {
          type: "object",
          properties: { data: { type: "string" } },
          required: ["data"],
        },
      },
      [{ data: "1", event: "n", id: "7" }, { data: "x" }],
      { type: "object" },
    ],
    [
      "the event, where itemSchema describes one",
      { itemSchema: { type: "object", properties: { data: {}, event: {} }, required: ["data"] } },
      [{ data: 1, event: "n", id: "7" }, { data: "x" }],
      { type: "object" },
    ],
  ])("gives %s", async (_what, media, expected, schema) => {
    await using api = await apiOf(
      { ...streaming(SSE, media), openapi: "3.2.0" },
      (_request, response) => {
        say(response, SSE, "event: n\nid: 7\ndata: 1\n\ndata: x\n\n").end()
      },
    )

    expect(await items(api.registry)).toEqual(expected)
    expect(api.registry.getSpec("api.op")?.outputSchema).toMatchObject(schema)
  })

  test("of strings gives JSON as the text that it is, without a warning", async () => {
    const document = {
      ...streaming(SSE, { schema: { $ref: "#/components/schemas/Line" } }),
      components: { schemas: { Line: { type: "string" } } },
    }
    await using api = await apiOf(document, (_request, response) => {
      say(response, SSE, 'data: {"at":1}\n\ndata: 12\n\n').end()
    })

    expect(await items(api.registry)).toEqual(['{"at":1}', "12"])
    expect(api.log).toEqual([])
  })

  test("warns once of integers beyond 2^53, and gives them as text on request", async () => {
    const answer = (_request: unknown, response: ServerResponse): void => {
      say(response, SSE, 'data: {"id":9007199254740993}\n\ndata: [9007199254740995]\n\n').end()
    }
    await using plain = await apiOf(streaming(SSE, {}), answer)
    await using text = await apiOf(streaming(SSE, {}), answer, { bigint: "text" })

    await items(plain.registry)
    expect(plain.log).toHaveLength(1)
    expect(await items(text.registry)).toEqual([{ id: "9007199254740993" }, ["9007199254740995"]])
    expect(text.log).toEqual([])
  })

  test("ends with [DONE], though the connection stays", async () => {
    await using api = await apiOf(streaming(SSE), (_request, response) => {
      say(response, SSE, 'data: {"a":1}\n\ndata: [DONE]\n\ndata: {"a":2}\n\n')
    })

    expect(await items(api.registry)).toEqual([{ a: 1 }])
    await until(() => api.server.open() === 0)
  })

  test("shows an event called error like any other", async () => {
    await using api = await apiOf(streaming(SSE), (_request, response) => {
      say(response, SSE, 'event: error\ndata: {"message":"overloaded"}\n\n').end()
    })

    expect(await collect(api.registry.subscribe("api.op", {}))).toEqual([
      expect.objectContaining({
        data: { message: "overloaded" },
        meta: expect.objectContaining({ event: { name: "error" } }) as unknown,
      }),
    ])
  })

  test("gives an item that is not as the document says, with a warning", async () => {
    const media = { schema: { type: "object", required: ["at"] } }
    await using api = await apiOf(streaming(SSE, media), (_request, response) => {
      say(response, SSE, "data: {}\n\n").end()
    })

    expect(await items(api.registry)).toEqual([{}])
    expect(api.log).toHaveLength(1)
  })
})

describe("other streams", () => {
  test.each([
    ["application/x-ndjson", '{"a":1}\n\n{"a":2}\r\n{"a":3}'],
    ["application/jsonl", '{"a":1}\n{"a":2}\n{"a":3}\n'],
    ["application/json-seq", '\u001e{"a":1}\n\u001e{"a":\n2}\n\u001e{"a":3}\n'],
    ["application/json;stream=watch", '{"a":1}\n{"a":2}\n{"a":3}\n'],
  ])("%s gives its items", async (type, text) => {
    await using api = await apiOf(streaming(type), (_request, response) => {
      say(response, type, text).end()
    })

    expect(await items(api.registry)).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }])
    expect(api.server.headers[0]?.accept).toBe(type)
  })

  test("are read as lines also where the server calls them JSON", async () => {
    await using api = await apiOf(streaming("application/x-ndjson"), (_request, response) => {
      say(response, "application/json", '{"a":1}\n{"a":2}\n').end()
    })

    expect(await items(api.registry)).toEqual([{ a: 1 }, { a: 2 }])
  })

  test("name the line that is no JSON, after those before it", async () => {
    await using api = await apiOf(streaming("application/x-ndjson"), (_request, response) => {
      say(response, "application/x-ndjson", '{"a":1}\n<html>\n').end()
    })
    const seen: unknown[] = []
    const error = await rejection(
      (async () => {
        for await (const { data } of api.registry.subscribe("api.op", {})) seen.push(data)
      })(),
    )

    expect(seen).toEqual([{ a: 1 }])
    expect(error).toMatchObject({ code: "EXECUTION_ERROR" })
    expect(String(error)).toContain("Line 2")
  })

  test("of one answer that is no stream is one item, and of none is none", async () => {
    await using one = await apiOf(streaming(SSE), (_request, response) => {
      say(response, "application/json", '{"a":1}').end()
    })
    await using none = await apiOf(streaming(SSE), (_request, response) => {
      response.writeHead(204).end()
    })

    expect(await items(one.registry)).toEqual([{ a: 1 }])
    expect(await items(none.registry)).toEqual([])
  })
})

describe("the end of a stream", () => {
  const silent = (_request: unknown, response: ServerResponse): void => {
    say(response, SSE, 'data: {"at":1}\n\n')
  }

  test("leaving the loop closes the connection", async () => {
    await using api = await apiOf(streaming(SSE), silent)
    for await (const { data } of api.registry.subscribe("api.op", {})) {
      expect(data).toEqual({ at: 1 })
      expect(api.server.open()).toBe(1)
      break
    }

    await until(() => api.server.open() === 0)
  })

  test("an abort closes the connection, and is thrown", async () => {
    await using api = await apiOf(streaming(SSE), silent)
    const controller = new AbortController()
    const stream = api.registry.subscribe("api.op", {}, { signal: controller.signal })
    await stream.next()
    const next = rejection(stream.next())
    controller.abort()

    expect(await next).toMatchObject({ code: "ABORTED" })
    await until(() => api.server.open() === 0)
  })

  test("a deadline closes the connection, and is thrown", async () => {
    await using api = await apiOf(streaming(SSE), silent)
    const error = await rejection(collect(api.registry.subscribe("api.op", {}, { timeout: 50 })))

    expect(error).toMatchObject({ code: "TIMEOUT" })
    await until(() => api.server.open() === 0)
  })

  test("a server that dies in the middle is UNAVAILABLE, after what it had said", async () => {
    await using api = await apiOf(streaming(SSE), (_request, response) => {
      response.writeHead(200, { "content-type": SSE })
      response.write('data: {"at":1}\n\n', () => response.socket?.resetAndDestroy())
    })
    const stream = api.registry.subscribe("api.op", {})

    expect((await stream.next()).value).toMatchObject({ data: { at: 1 } })
    expect(await rejection(stream.next())).toMatchObject({
      code: "UNAVAILABLE",
      operationId: "api.op",
    })
  })

  test("an HTTP error before the first event is the error of a call", async () => {
    await using api = await apiOf(streaming(SSE), (_request, response) => {
      response.writeHead(429, { "content-type": "application/json", "retry-after": "1" })
      response.end('{"message":"slowly"}')
    })

    expect(await rejection(collect(api.registry.subscribe("api.op", {})))).toMatchObject({
      code: "EXECUTION_ERROR",
      details: { statusCode: 429, body: { message: "slowly" } },
      retryable: true,
      retryAfterMs: 1000,
    })
  })

  test("an input that is wrong is refused before anything is sent", async () => {
    await using api = await apiOf(streaming(SSE), silent)

    expect(await rejection(collect(api.registry.subscribe("api.op", { x: 1 })))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(api.server.requests).toEqual([])
  })

  test("an event that never ends is refused at its limit", async () => {
    await using api = await apiOf(streaming(SSE), (_request, response) => {
      response.writeHead(200, { "content-type": SSE })
      const more = (): void => {
        if (response.writable) response.write("data: ".padEnd(256 * 1024, "x"), more)
      }
      more()
    })

    expect(await rejection(collect(api.registry.subscribe("api.op", {})))).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    })
    await until(() => api.server.open() === 0)
  })
})

describe("a stream that is opened again", () => {
  const reconnect = { maxAttempts: 3, delayMs: 1, maxDelayMs: 5 }

  test("goes on after the last event, with the credential of each time", async () => {
    let count = 0
    const spec = oneOperation("/x", "post", {
      parameters: [{ name: "q", in: "query", schema: { type: "string" } }],
      requestBody: { content: { "application/json": { schema: {} } } },
      responses: { 200: { description: "", content: { [SSE]: { schema: {} } } } },
    })
    await using api = await apiOf(
      spec,
      (_request, response) => {
        const at = ++count
        say(
          response,
          SSE,
          at < 3 ? `id: é${at}\ndata: ${at}\n\n` : `data: ${at}\n\ndata: [DONE]\n\n`,
        )
        response.end()
      },
      { reconnect, auth: () => `token-${count}`, headers: { "x-fixed": "1" } },
    )

    expect(await items(api.registry, "api.op", { q: "a", body: { b: 1 } })).toEqual([1, 2, 3])
    expect(api.server.requests).toEqual(
      Array.from({ length: 3 }, () => ({ method: "POST", url: "/x?q=a", body: '{"b":1}' })),
    )
    expect(api.server.headers.map((headers) => headers["last-event-id"])).toEqual([
      undefined,
      Buffer.from("é1").toString("latin1"),
      Buffer.from("é2").toString("latin1"),
    ])
    expect(api.server.headers.map(({ authorization }) => authorization)).toEqual([
      "Bearer token-0",
      "Bearer token-1",
      "Bearer token-2",
    ])
    expect(api.server.headers.every((headers) => headers["x-fixed"] === "1")).toBe(true)
  })

  test("goes on when a connection dies, and gives up after so many attempts", async () => {
    await using api = await apiOf(
      streaming(SSE),
      (_request, response) => {
        if (api.server.requests.length > 1) {
          response.socket?.resetAndDestroy()
          return
        }
        response.writeHead(200, { "content-type": SSE })
        response.write("id: 1\ndata: 1\n\n", () => response.socket?.resetAndDestroy())
      },
      { reconnect },
    )
    const seen: unknown[] = []
    const error = await rejection(
      (async () => {
        for await (const { data } of api.registry.subscribe("api.op", {})) seen.push(data)
      })(),
    )

    expect(seen).toEqual([1])
    expect(error).toMatchObject({ code: "UNAVAILABLE" })
    expect(String(error)).toContain("in 3 attempts")
    expect(api.server.requests.length).toBe(4)
  })

  test("ends with 204, and with an error that trying again cannot mend", async () => {
    const after = (status: number) =>
      apiOf(
        streaming(SSE),
        (request, response) => {
          if (request.headers["last-event-id"] === "1") response.writeHead(status).end()
          else say(response, SSE, "id: 1\ndata: 1\n\n").end()
        },
        { reconnect },
      )
    await using done = await after(204)
    await using gone = await after(410)

    expect(await items(done.registry)).toEqual([1])
    expect(await rejection(items(gone.registry))).toMatchObject({ details: { statusCode: 410 } })
    expect(gone.server.requests.length).toBe(2)
  })

  test("is not, unless the user wants it", async () => {
    await using api = await apiOf(streaming(SSE), (_request, response) => {
      say(response, SSE, "id: 1\nretry: 1\ndata: 1\n\n").end()
    })

    expect(await items(api.registry)).toEqual([1])
    expect(api.server.requests.length).toBe(1)
  })

  test("waits no longer when the caller leaves", async () => {
    await using api = await apiOf(
      streaming(SSE),
      (_request, response) => void say(response, SSE, "id: 1\ndata: 1\n\n").end(),
      { reconnect: { maxAttempts: 5, delayMs: 60_000, maxDelayMs: 60_000 } },
    )
    const controller = new AbortController()
    const stream = api.registry.subscribe("api.op", {}, { signal: controller.signal })
    await stream.next()
    const next = rejection(stream.next())
    await until(() => api.server.open() === 0)
    controller.abort()

    expect(await next).toMatchObject({ code: "ABORTED" })
    expect(api.server.requests.length).toBe(1)
  })
})

describe("an operation that answers at once or with a stream", () => {
  const spec = oneOperation("/chat", "post", {
    operationId: "chat",
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: {
            type: "object",
            properties: {
              prompt: { type: "string" },
              stream: { type: "boolean", nullable: true, default: false },
            },
            required: ["prompt"],
          },
        },
      },
    },
    responses: {
      200: {
        description: "",
        content: {
          "application/json": { schema: { type: "object", properties: { text: {} } } },
          [SSE]: { schema: { type: "object", properties: { delta: {} } } },
        },
      },
    },
  })

  test("is two operations: a call and its stream, which says what it wants", async () => {
    await using api = await apiOf(spec, (request, response) => {
      if (request.headers.accept === SSE) say(response, SSE, 'data: {"delta":"a"}\n\n').end()
      else say(response, "application/json", '{"text":"a"}').end()
    })
    const body = { prompt: "p", stream: false }
    const call: ResponseEnvelope = await api.registry.execute("api.chat", { body: { prompt: "p" } })

    expect(call.data).toEqual({ text: "a" })
    expect(await items(api.registry, "api.chat_stream", { body })).toEqual([{ delta: "a" }])
    expect(api.server.requests.map(({ body: sent }) => sent)).toEqual([
      '{"prompt":"p"}',
      '{"prompt":"p","stream":true}',
    ])
    expect(api.server.headers.map(({ accept }) => accept)).toEqual(["application/json", SSE])
    expect(body).toEqual({ prompt: "p", stream: false })
  })

  test("has a spec for each, and the report counts them", () => {
    const operations = FromOpenAPI(spec, { namespace: "api" })
    const [call, stream] = operations

    expect(operations.map(({ name, type }) => [name, type])).toEqual([
      ["chat", "mutation"],
      ["chat_stream", "subscription"],
    ])
    expect(call?.outputSchema).toMatchObject({ properties: { text: {} } })
    expect(stream?.outputSchema).toMatchObject({ properties: { delta: {} } })
    expect(stream?._meta).toEqual(call?._meta)
    expect(operations.report.counts).toEqual({
      kept: 2,
      widened: 0,
      skipped: 0,
      widenedErrors: 0,
      filtered: 0,
      twins: 1,
      webhooks: 0,
      callbacks: 0,
    })
  })

  test("sends stream_format where that is how a document says it", async () => {
    const schema = {
      type: "object",
      properties: { stream_format: { type: "string", enum: ["sse", "audio"] } },
    }
    const speech = oneOperation("/s", "post", {
      requestBody: { content: { "application/json": { schema } } },
      responses: {
        200: { description: "", content: { "application/octet-stream": {}, [SSE]: {} } },
      },
    })
    await using api = await apiOf(speech, (_request, response) => {
      say(response, SSE, "data: 1\n\n").end()
    })
    await items(api.registry, "api.op_stream")

    expect(api.server.requests[0]?.body).toBe('{"stream_format":"sse"}')
  })

  test("says what it wants in any form of a form, and leaves the caller's alone", async () => {
    const schema = { type: "object", properties: { a: {}, stream: { type: "boolean" } } }
    const forms = oneOperation("/f", "post", {
      requestBody: {
        content: {
          "application/x-www-form-urlencoded": { schema },
          "multipart/form-data": { schema },
        },
      },
      responses: { 200: { description: "", content: { "application/json": {}, [SSE]: {} } } },
    })
    await using api = await apiOf(forms, (_request, response) => {
      say(response, SSE, "data: 1\n\n").end()
    })
    const query = new URLSearchParams({ a: "1" })
    const form = new FormData()
    form.append("a", "1")
    form.append("f", new File(["x"], "x.txt"))
    for (const given of [query, form, { a: "1" }, undefined]) {
      await items(api.registry, "api.op_stream", { body: given })
    }
    const bodies = api.server.requests.map(({ body }) => body)

    expect([bodies[0], bodies[2], bodies[3]]).toEqual([
      "a=1&stream=true",
      "a=1&stream=true",
      "stream=true",
    ])
    expect(bodies[1]).toContain('name="stream"\r\n\r\ntrue')
    expect(bodies[1]).toContain('filename="x.txt"')
    expect([...form.keys()]).toEqual(["a", "f"])
    expect(String(query)).toBe("a=1")
  })

  test("of Kubernetes sends watch=true", async () => {
    const json = "application/json"
    const pods = oneOperation("/pods", "get", {
      parameters: [
        { name: "watch", in: "query", schema: { type: "boolean" } },
        { name: "limit", in: "query", schema: { type: "integer" } },
      ],
      responses: {
        200: {
          description: "",
          content: {
            [json]: { schema: { type: "object" } },
            [`${json};stream=watch`]: { schema: { type: "object" } },
          },
        },
      },
    })
    await using api = await apiOf(pods, (_request, response) => {
      say(response, json, '{"type":"ADDED"}\n{"type":"MODIFIED"}\n').end()
    })

    expect(await items(api.registry, "api.op_stream", { limit: 2, watch: false })).toEqual([
      { type: "ADDED" },
      { type: "MODIFIED" },
    ])
    expect(api.server.requests[0]?.url).toBe("/pods?limit=2&watch=true")
    expect(api.server.headers[0]?.accept).toBe(`${json};stream=watch`)
  })
})
