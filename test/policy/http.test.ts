import type { IncomingMessage, ServerResponse } from "node:http"
import { describe, expect, test } from "vitest"
import { createRegistry } from "../../src/index.ts"
import { createManualClock, silentLogger } from "../../src/testing.ts"
import type { AnyRegistry, CallError, Clock, Resilience } from "../../src/index.ts"
import { FromOpenAPI } from "../../src/from-openapi.ts"
import { serve } from "../http-client/server.ts"
import type { TestServer } from "../http-client/server.ts"
import { rejection } from "../support/operations.ts"

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const json = { content: { "application/json": { schema: {} } } }
const responses = { default: { description: "", ...json } }
const document = {
  openapi: "3.1.0",
  info: { title: "Things", version: "1" },
  paths: {
    "/thing": {
      get: { operationId: "get", responses },
      put: { operationId: "put", requestBody: json, responses },
      post: { operationId: "post", requestBody: json, responses },
    },
  },
}

/** An API on a real server, imported into a registry with policies. */
async function api(
  answer: Answer,
  resilience: Resilience,
  clock?: Clock,
): Promise<{ registry: AnyRegistry; server: TestServer } & AsyncDisposable> {
  const server = await serve(answer)
  const operations = FromOpenAPI(document, {
    namespace: "api",
    baseUrl: server.url,
    idempotencyHeader: "X-Key",
  })
  const registry = createRegistry(operations, {
    logger: silentLogger,
    policies: [{ match: "api.*", ...resilience }],
    ...(clock && { clock }),
  }) as unknown as AnyRegistry
  return {
    registry,
    server,
    async [Symbol.asyncDispose]() {
      await registry.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(code, headers).end("{}")
  }

const inThePast = new Date(0).toUTCString()
const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()

const time = createManualClock()

/** What a server does, and how many requests of three attempts reach it: GET, PUT, POST, and POST with a key. */
const FAULTS: readonly (readonly [string, Answer, readonly number[]])[] = [
  ["429 with seconds in Retry-After", status(429, { "retry-after": "0" }), [3, 3, 3, 3]],
  ["503 with a date in Retry-After", status(503, { "retry-after": inThePast }), [3, 3, 3, 3]],
  ["503 without Retry-After", status(503), [3, 3, 3, 3]],
  ["503 that asks for more than is allowed", status(503, { "retry-after": "3600" }), [1, 1, 1, 1]],
  [
    "429 with a date that is further away than is allowed",
    status(429, { "retry-after": inAnHour }),
    [1, 1, 1, 1],
  ],
  ["408", status(408), [3, 3, 3, 3]],
  ["500", status(500), [1, 1, 1, 1]],
  ["502", status(502), [3, 3, 1, 3]],
  ["404", status(404), [1, 1, 1, 1]],
  ["304 that nobody asked for", status(304), [1, 1, 1, 1]],
  ["a reset", (request) => request.socket.destroy(), [3, 3, 1, 3]],
  [
    "half an answer",
    (_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100" })
      response.write('{"half":')
      setImmediate(() => response.destroy())
    },
    [3, 3, 1, 3],
  ],
  // Time passes only when a request is there, so that the speed of the machine does not matter.
  ["no answer", () => void time.advance(500), [3, 3, 1, 3]],
]

describe("retry of requests to a real HTTP server:", () => {
  test.each(FAULTS)("%s", async (_name, answer, counts) => {
    const policies = { retry: { attempts: 3, delay: 0 }, timeout: { attempt: 500 } }
    await using it = await api(answer, policies, time)
    for (const [index, expected] of counts.entries()) {
      const method = ["get", "put", "post"][index] ?? "post"
      const idempotencyKey = index === 3 ? "k-1" : undefined
      const before = it.server.requests.length
      const calling = it.registry.execute(`api.${method}`, method === "get" ? {} : { body: {} }, {
        idempotencyKey,
      })
      const error = (await rejection(calling)) as CallError
      const count = it.server.requests.length - before
      expect([method, idempotencyKey, count]).toEqual([method, idempotencyKey, expected])
      expect([method, error.attempts]).toEqual([method, count === 1 ? undefined : count])
      const mayBeRepeated =
        method !== "post" || idempotencyKey !== undefined || !error.mayHaveExecuted
      expect([method, count === 1 || mayBeRepeated]).toEqual([method, true])
      const keys = it.server.headers.slice(before).map((headers) => headers["x-key"])
      expect(new Set(keys)).toEqual(new Set([idempotencyKey]))
    }
  })

  test("a server that recovers is a success, and says how many attempts it took", async () => {
    let failures = 2
    await using it = await api(
      (request, response) =>
        status(failures-- > 0 ? 503 : 200, { "content-type": "application/json" })(
          request,
          response,
        ),
      { retry: { delay: 0 } },
    )
    expect(await it.registry.execute("api.post", { body: {} })).toMatchObject({
      data: {},
      meta: { attempts: 3 },
    })
  })

  test("a 429 holds the rate limit, so that the server has the pause that it wants", async () => {
    const clock = createManualClock()
    await using it = await api(
      status(429, { "retry-after": "5" }),
      { rateLimit: { perSecond: 100 } },
      clock,
    )
    await rejection(it.registry.execute("api.get"))
    expect(await rejection(it.registry.execute("api.put", { body: {} }))).toMatchObject({
      code: "RATE_LIMITED",
      retryAfterMs: 5_000,
    })
    expect(it.server.requests.length).toBe(1)
    await clock.advance(5_000)
    await rejection(it.registry.execute("api.get"))
    expect(it.server.requests.length).toBe(2)
  })

  test("a circuit opens for all operations of the API", async () => {
    await using it = await api(status(500), { breaker: { minimumCalls: 3 } })
    for (let calls = 0; calls < 3; calls++) await rejection(it.registry.execute("api.get"))
    expect(await rejection(it.registry.execute("api.post", { body: {} }))).toMatchObject({
      code: "CIRCUIT_OPEN",
      mayHaveExecuted: false,
    })
    expect(it.server.requests.length).toBe(3)
  })
})

describe("revalidation with a real HTTP server", () => {
  test("a 304 makes the kept result fresh again, and a new one replaces it", async () => {
    const clock = createManualClock()
    let version = 1
    await using it = await api(
      (request, response) => {
        const etag = `"v${version}"`
        const modified = new Date(0).toUTCString()
        const isKnown =
          request.headers["if-none-match"] === etag &&
          request.headers["if-modified-since"] === modified
        const headers = { etag, "last-modified": modified, "content-type": "application/json" }
        if (isKnown) response.writeHead(304, headers).end()
        else response.writeHead(200, headers).end(JSON.stringify({ version }))
      },
      { cache: { ttl: 1_000 }, retry: {}, breaker: {} },
      clock,
    )
    const call = async (): Promise<unknown> => {
      const { data, meta } = await it.registry.execute("api.get")
      return [data, meta.source, meta.cache?.state]
    }
    expect(await call()).toEqual([{ version: 1 }, "http", undefined])
    expect(await call()).toEqual([{ version: 1 }, "http", "fresh"])
    await clock.advance(1_500)
    expect(await call()).toEqual([{ version: 1 }, "http", undefined])
    expect(await call()).toEqual([{ version: 1 }, "http", "fresh"])
    version = 2
    await clock.advance(1_500)
    expect(await call()).toEqual([{ version: 2 }, "http", undefined])
    expect(it.server.headers.map((headers) => headers["if-none-match"])).toEqual([
      undefined,
      '"v1"',
      '"v1"',
    ])
  })

  test("cache-control of the server shortens what is configured, and a 304 without a cache says what it is", async () => {
    const clock = createManualClock()
    await using it = await api(
      status(200, { "content-type": "application/json", "cache-control": "max-age=1" }),
      { cache: { ttl: 60_000 } },
      clock,
    )
    await it.registry.execute("api.get")
    await clock.advance(1_100)
    await it.registry.execute("api.get")
    expect(it.server.requests.length).toBe(2)

    await using other = await api(status(304), {})
    expect(await rejection(other.registry.execute("api.get"))).toMatchObject({
      code: "EXECUTION_ERROR",
      mayHaveExecuted: false,
      details: { statusCode: 304 },
      message: expect.stringContaining("so there is no content") as string,
    })
  })
})
