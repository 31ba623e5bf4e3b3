import { once } from "node:events"
import { createServer } from "node:http"
import type { IncomingMessage, RequestListener, Server } from "node:http"
import type { AddressInfo } from "node:net"
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises"
import { Type } from "typebox"
import { afterEach, describe, expect, test } from "vitest"
import {
  CallError,
  createClient,
  createRegistry,
  defineOperation,
  isCallError,
  PendingRequestMap,
  serveCalls,
} from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { AnyRegistry } from "../../../src/index.ts"
import { createHTTPTransport } from "../../../src/http.ts"
import type { HTTPTransportOptions } from "../../../src/http.ts"
import { deferred } from "../../../src/internal/wait.ts"
import { serveHTTP } from "../../../src/node.ts"
import { toHTTP } from "../../../src/to-http.ts"
import type { HTTPServerOptions } from "../../../src/to-http.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"
import { waitFor } from "../../support/wait-for.ts"

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

const base = {
  namespace: "demo",
  version: "1.0.0",
  description: "Of a test",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
} as const

/** A server on loopback. */
async function listen(listener: RequestListener): Promise<{ url: string; http: Server }> {
  const http = createServer(listener)
  http.listen(0, "127.0.0.1")
  await once(http, "listening")
  closers.push(() => {
    http.closeAllConnections()
    http.close()
  })
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, http }
}

/** A served registry and a map that calls it, with the requests that arrived. */
async function connect(
  registry: AnyRegistry,
  options: HTTPTransportOptions = {},
  served: HTTPServerOptions = {},
) {
  const api = toHTTP(registry, { logger: silentLogger, ...served })
  closers.push(() => api.close())
  const requests: IncomingMessage[] = []
  const { url, http } = await listen((request, response) => {
    requests.push(request)
    api.node(request, response)
  })
  const map = new PendingRequestMap(createHTTPTransport(url, options), { logger: silentLogger })
  closers.push(() => map.close())
  return { map, requests, url, http, paths: () => requests.map((request) => request.url) }
}

async function failure(promise: PromiseLike<unknown>): Promise<CallError> {
  try {
    await promise
  } catch (error) {
    if (isCallError(error)) return error
    throw error
  }
  throw new Error("Expected a CallError, got a result.")
}

const echo = defineOperation({ ...base, name: "echo", type: "mutation", handler: (value) => value })

describe("calls over HTTP", () => {
  test("of one turn share a request, and a single one has its own path", async () => {
    const { map, paths } = await connect(createRegistry([echo]))
    const results = await Promise.all(["a", "b", "c"].map((one) => map.call("demo.echo", one)))
    expect(results.map(({ data }) => data)).toEqual(["a", "b", "c"])
    await map.call("demo.echo", "d")
    expect(paths()).toEqual(["/batch", "/operations/demo.echo"])
  })

  test("are split into requests by their number and by their length", async () => {
    const { map, paths } = await connect(createRegistry([echo]), { batch: { max: 4 } })
    await Promise.all(Array.from({ length: 10 }, (_, at) => map.call("demo.echo", at)))
    expect(paths()).toEqual(["/batch", "/batch", "/batch"])
    const long = "x".repeat(200_000)
    const results = await Promise.all([1, 2, 3].map(() => map.call("demo.echo", long)))
    expect(results.map(({ data }) => (data as string).length)).toEqual([2e5, 2e5, 2e5])
    expect(paths().slice(3)).toEqual(Array.from({ length: 3 }, () => "/operations/demo.echo"))
  })

  test("each have their own request without batch", async () => {
    const { map, paths } = await connect(createRegistry([echo]), { batch: false })
    await Promise.all([map.call("demo.echo", 1), map.call("demo.echo", 2)])
    expect(paths()).toEqual(["/operations/demo.echo", "/operations/demo.echo"])
  })

  test("send headers that a function gives for each request, and none of its own identity", async () => {
    let count = 0
    const { map, requests } = await connect(createRegistry([echo]), {
      headers: async () => ({ authorization: `Bearer ${++count}` }),
    })
    const identity = { id: "root", scopes: ["*"] }
    await map.call("demo.echo", 1, { identity })
    await map.call("demo.echo", 2, { traceparent: "00-a-b-01" })
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer 1", "Bearer 2"])
    expect(requests[1]?.headers["traceparent"]).toBe("00-a-b-01")
    expect(JSON.stringify(requests[0]?.headers)).not.toContain("root")
  })

  test("fail before anything is sent when the headers cannot be made, without showing them", async () => {
    for (const headers of [
      () => {
        throw new Error("no token today")
      },
      () => ({ authorization: "secret\nvalue" }),
    ]) {
      const { map, requests } = await connect(createRegistry([echo]), { headers })
      const error = await failure(map.call("demo.echo", 1))
      expect(error).toMatchObject({ code: "VALIDATION_ERROR", mayHaveExecuted: false })
      expect(JSON.stringify(error)).not.toContain("secret")
      expect(requests).toEqual([])
    }
  })

  test("pass their deadline on, in batches each its own", async () => {
    const left = defineOperation({
      ...base,
      name: "left",
      type: "query",
      handler: (_input, { deadline }) => (deadline ?? 0) - Date.now(),
    })
    const { map } = await connect(createRegistry([left]))
    const [short, long] = await Promise.all([
      map.call("demo.left", undefined, { timeout: 10_000 }),
      map.call("demo.left", undefined, { timeout: 100_000 }),
    ])
    expect(short?.data).toBeLessThanOrEqual(10_000)
    expect(long?.data).toBeGreaterThan(10_000)
    expect(long?.data).toBeLessThanOrEqual(100_000)
  })

  test("that are all aborted end their request, and the handlers", async () => {
    let running = 0
    const wait = defineOperation({
      ...base,
      name: "wait",
      type: "mutation",
      handler: async (_input, { signal }) => {
        running++
        await once(signal, "abort")
        running--
      },
    })
    const { map } = await connect(createRegistry([wait]))
    const calls = [1, 2, 3].map(() => map.call("demo.wait"))
    for (const call of calls) call.catch(() => undefined)
    await waitFor(() => expect(running).toBe(3))
    const from = Date.now()
    for (const call of calls) call.abort()
    await waitFor(() => expect(running).toBe(0))
    expect(Date.now() - from).toBeLessThan(10_000)
    for (const call of calls) expect((await failure(call)).code).toBe("ABORTED")
  })

  test("that are aborted before they were sent report that they did not execute", async () => {
    const { map, requests } = await connect(createRegistry([echo]))
    const call = map.call("demo.echo", 1)
    call.abort()
    expect(await failure(call)).toMatchObject({ code: "ABORTED", mayHaveExecuted: false })
    await map.call("demo.echo", 2)
    expect(requests).toHaveLength(1)
  })

  test("are repeated when their error allows it, as often as the option says", async () => {
    let runs = 0
    const shaky = defineOperation({
      ...base,
      name: "shaky",
      type: "mutation",
      handler: () => {
        if (++runs % 3 !== 0) {
          const flags = { retryable: true, mayHaveExecuted: false }
          throw new CallError("BUSY", "Not now.", { ...flags, retryAfterMs: 1 })
        }
        return runs
      },
    })
    const registry = createRegistry([shaky])
    expect((await failure((await connect(registry)).map.call("demo.shaky"))).code).toBe("BUSY")
    runs = 0
    expect((await (await connect(registry, { retries: 2 })).map.call("demo.shaky")).data).toBe(3)
    expect(
      (await failure((await connect(registry, { retries: 1 })).map.call("demo.shaky"))).code,
    ).toBe("BUSY")
    expect(runs).toBe(5)
  })

  test("are not repeated when they may have executed", async () => {
    let requests = 0
    const { url } = await listen((request) => {
      requests++
      request.resume()
      request.on("end", () => request.socket.destroy())
    })
    const map = new PendingRequestMap(createHTTPTransport(url, { retries: 5 }))
    closers.push(() => map.close())
    expect(await failure(map.call("demo.echo", 1))).toMatchObject({
      code: "UNAVAILABLE",
      mayHaveExecuted: true,
      retryable: false,
    })
    expect(requests).toBe(1)
  })

  test("to an address without a server have certainly not executed", async () => {
    const { url, http } = await listen(() => undefined)
    http.close()
    await once(http, "close")
    const map = new PendingRequestMap(createHTTPTransport(url))
    closers.push(() => map.close())
    const error = await failure(map.call("demo.echo", 1))
    expect(error).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false, retryable: true })
    expect(error.message).toContain(url)
  })

  test.each([
    [302, { location: "https://elsewhere.example" }, "", "UNAVAILABLE", "not followed"],
    [404, {}, "<h1>Not found</h1>", "OPERATION_NOT_FOUND", "Check the URL"],
    [502, {}, "<h1>Bad gateway</h1>", "UNAVAILABLE", "502"],
    [429, { "retry-after": "7" }, "slow down", "RATE_LIMITED", "429"],
    [401, {}, "", "UNAUTHENTICATED", "401"],
    [200, {}, "<h1>Welcome</h1>", "DATA_LOSS", "not JSON"],
    [200, {}, "{}", "DATA_LOSS", "not a result"],
    [500, {}, '{"code":5,"detail":[]}', "EXECUTION_ERROR", "500"],
  ])(
    "answered by something else with %s fail with what is known",
    async (status, headers, body, code, words) => {
      const { url } = await listen((_request, response) => {
        response.writeHead(status, headers)
        response.end(body)
      })
      const map = new PendingRequestMap(createHTTPTransport(url))
      closers.push(() => map.close())
      const error = await failure(map.call("demo.echo", 1))
      expect(error.code).toBe(code)
      expect(error.message).toContain(words)
      expect(error.retryAfterMs).toBe(status === 429 ? 7000 : undefined)
      const [one, two] = [map.call("demo.echo", 1), map.call("demo.echo", 2)].map(failure)
      expect((await one)?.code).toBe(body === "{}" ? "UNAVAILABLE" : code)
      expect((await two)?.code).toBe((await one)?.code)
    },
  )

  test("with longer answers than the limit fail", async () => {
    const { map } = await connect(createRegistry([echo]), { maxResponseBytes: 5000 })
    expect((await map.call("demo.echo", "x".repeat(3000))).data).toHaveLength(3000)
    expect((await failure(map.call("demo.echo", "x".repeat(6000)))).code).toBe("PAYLOAD_TOO_LARGE")
  })

  test("have results as the option parse reads them", async () => {
    const parse = (json: string): unknown =>
      JSON.parse(json, (_key, value: unknown) => (value === 7 ? 7n : value))
    const { map } = await connect(createRegistry([echo]), { parse, batch: false })
    expect((await map.call("demo.echo", [6, 7])).data).toEqual([6, 7n])
    const broken = await connect(createRegistry([echo]), {
      parse: () => {
        throw new SyntaxError("no")
      },
    })
    expect((await failure(broken.map.call("demo.echo", 1))).code).toBe("DATA_LOSS")
  })

  test("with many short lines instead of one answer fail at the same limit", async () => {
    const { url } = await listen((_request, response) => {
      response.write("{}")
      response.end("\n".repeat(6000))
    })
    const options = { maxResponseBytes: 5000 }
    const map = new PendingRequestMap(createHTTPTransport(url, options))
    closers.push(() => map.close())
    expect((await failure(map.call("demo.echo", 1))).code).toBe("PAYLOAD_TOO_LARGE")
  })

  test("whose batch is answered with nonsense end its request", async () => {
    let isLeft = false
    const { url } = await listen((_request, response) => {
      response.on("close", () => (isLeft = true))
      response.write("nonsense\n")
    })
    const map = new PendingRequestMap(createHTTPTransport(url))
    closers.push(() => map.close())
    const calls = [map.call("demo.echo", 1), map.call("demo.echo", 2)].map(failure)
    for (const call of calls) expect((await call).code).toBe("DATA_LOSS")
    await waitFor(() => expect(isLeft).toBe(true))
  })

  test("work with a fetch without streams, as in React Native", async () => {
    const plain: typeof fetch = async (input, init) => {
      const { status, headers, ok } = await fetch(input, init).then(async (response) => {
        text = await response.text()
        return response
      })
      return { status, headers, ok, text: async () => text } as unknown as Response
    }
    let text = ""
    const count = defineOperation({
      ...base,
      name: "count",
      type: "subscription",
      async *handler() {
        yield await Promise.resolve(1)
      },
    })
    const { map } = await connect(createRegistry([echo, count]), { fetch: plain })
    const results = await Promise.all([map.call("demo.echo", 1), map.call("demo.echo", "two")])
    expect(results.map(({ data }) => data)).toEqual([1, "two"])
    const error = await failure(map.subscribe("demo.count").next())
    expect(error.message).toContain("cannot read streams")
  })

  test("10,000 of them in a few turns leave nothing behind", async () => {
    const { map, requests } = await connect(createRegistry([echo]))
    const results = await Promise.all(
      Array.from({ length: 10_000 }, (_, at) => map.call("demo.echo", at)),
    )
    expect(results.map(({ data }) => data)).toEqual(Array.from({ length: 10_000 }, (_, at) => at))
    expect(requests.length).toBe(100)
    expect(map.getPendingCount()).toBe(0)
  })

  test("to a port that the platform refuses are not executed", async () => {
    const map = new PendingRequestMap(createHTTPTransport("http://127.0.0.1:9", { retries: 3 }))
    closers.push(() => map.close())
    expect(await failure(map.call("demo.echo", 1))).toMatchObject({
      code: "UNAVAILABLE",
      mayHaveExecuted: false,
      retryable: false,
    })
  })
})

/** Counts from the item after the last one that the client has. */
const resumable = defineOperation({
  ...base,
  name: "resumable",
  type: "subscription",
  async *handler(_input, { metadata }) {
    for (let at = Number(metadata?.["lastEventId"] ?? 0) + 1; at <= 9; at++) {
      yield at
      if (at % 3 === 0) await sleep(50)
    }
  },
})

describe("streams over HTTP", () => {
  /** Cuts the connection of each stream once, after some items. */
  async function cut(registry: AnyRegistry, options: HTTPTransportOptions = {}) {
    const { url } = await connect(registry)
    let cuts = 0
    const cutOnce: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (cuts++ > 0 || response.body === null) return response
      let isCut = false
      const body = response.body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            if (isCut) controller.error(new TypeError("terminated"))
            else controller.enqueue(chunk)
            isCut = true
          },
        }),
      )
      return new Response(body, response)
    }
    const map = new PendingRequestMap(createHTTPTransport(url, { ...options, fetch: cutOnce }), {
      logger: silentLogger,
    })
    closers.push(() => map.close())
    return map
  }

  /** A server that sends one item, is away for a time, and then sends the second item. */
  function absent(away: number, answer?: ResponseInit) {
    const clock = new VirtualClock()
    const asked: number[] = []
    const item = (at: number): string =>
      `id: ${at}\ndata: {"data":${at},"meta":{"source":"local","operationId":"a.b","timestamp":1}}\n\n`
    const send: typeof fetch = async () => {
      asked.push(clock.now())
      if (asked.length === 1) return new Response(item(1))
      if (clock.now() >= away) return new Response(`${item(2)}event: end\ndata: {}\n\n`)
      if (answer === undefined) {
        const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" })
        throw new TypeError("fetch failed", { cause })
      }
      return new Response("", answer)
    }
    const transport = createHTTPTransport("http://away.test", { fetch: send, clock })
    const map = new PendingRequestMap(transport, { clock, logger: silentLogger })
    closers.push(() => map.close())
    /** Lets virtual time pass in small steps: answers and modules are read in turns of the event loop. */
    const pass = async (milliseconds: number): Promise<void> => {
      await waitFor(() => expect(asked).not.toHaveLength(0))
      for (let step = 0; step < milliseconds; step += 100) {
        for (let turn = 0; turn < 3; turn++) await nextTurn()
        await clock.advance(100)
      }
    }
    return { map, pass, clock, asked }
  }

  async function read(map: PendingRequestMap, id: string, signal?: AbortSignal) {
    const items: unknown[] = []
    try {
      for await (const { data } of map.subscribe(id, undefined, { signal })) items.push(data)
    } catch (error) {
      return { items, error: error as CallError }
    }
    return { items, error: undefined }
  }

  test("that were cut off continue after their last item", async () => {
    const map = await cut(createRegistry([resumable]))
    expect(await read(map, "demo.resumable")).toEqual({
      items: [1, 2, 3, 4, 5, 6, 7, 8, 9],
      error: undefined,
    })
  })

  test("whose handler starts from the beginning fail, and no item comes twice", async () => {
    const forgetful = defineOperation({
      ...base,
      name: "forgetful",
      type: "subscription",
      async *handler() {
        for (let at = 1; at <= 9; at++) {
          yield at
          if (at % 3 === 0) await sleep(50)
        }
      },
    })
    const { items, error } = await read(await cut(createRegistry([forgetful])), "demo.forgetful")
    expect(items).toEqual([1, 2, 3])
    expect(error).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
  })

  test("are not resumed with resumeMs: 0", async () => {
    const map = await cut(createRegistry([resumable]), { resumeMs: 0 })
    const { items, error } = await read(map, "demo.resumable")
    expect(items).toEqual([1, 2, 3])
    expect(error?.code).toBe("UNAVAILABLE")
  })

  test.each([
    { away: 50_000, outcome: "are resumed", items: [1, 2], error: undefined },
    {
      away: 70_000,
      outcome: "fail",
      items: [1],
      error: expect.objectContaining({ code: "UNAVAILABLE", mayHaveExecuted: true }) as unknown,
    },
  ])("whose server is away for $away ms $outcome", async ({ away, items, error }) => {
    const { map, pass, clock, asked } = absent(away)
    const reading = read(map, "demo.resumable")

    await pass(120_000)

    expect(await reading).toEqual({ items, error })
    // Nearly a minute of attempts, of which the later ones are 2.5 to 5 seconds apart.
    const gaps = asked.slice(1).map((at, index) => at - (asked[index] ?? 0))
    expect(Math.max(...gaps)).toBeLessThanOrEqual(5000)
    expect(asked.at(-1)).toBeGreaterThan(Math.min(away, 60_000) - 5000)
    expect(asked.at(-1)).toBeLessThan(66_000)
    expect(clock.timers).toBe(0)
  })

  test("whose server asks for a longer wait than they resume for fail at once", async () => {
    const { map, pass, asked } = absent(70_000, { status: 503, headers: { "retry-after": "90" } })
    const reading = read(map, "demo.resumable")

    await pass(1000)

    const { items, error } = await reading
    expect(items).toEqual([1])
    expect(error).toMatchObject({ code: "UNAVAILABLE", retryAfterMs: 90_000 })
    expect(asked).toHaveLength(2)
  })

  test("are resumed when their server counts the lost connection for a while", async () => {
    const { map, pass } = absent(5000, { status: 429, headers: { "retry-after": "1" } })
    const reading = read(map, "demo.resumable")

    await pass(20_000)

    expect(await reading).toEqual({ items: [1, 2], error: undefined })
  })

  test("go on without a gap after their server was drained and started again", async () => {
    const gate = deferred()
    const registry = createRegistry([
      defineOperation({
        ...base,
        name: "numbers",
        type: "subscription",
        async *handler(_input, { metadata }) {
          for (let at = Number(metadata?.["lastEventId"] ?? 0) + 1; at <= 6; at++) {
            if (at > 3) await gate.promise
            yield at
          }
        },
      }),
    ])
    const options = { logger: silentLogger, websocket: false, drainMs: 0 }
    const first = await serveHTTP(registry, { ...options, port: 0 })
    const { url } = first
    const map = new PendingRequestMap(createHTTPTransport(url), { logger: silentLogger })
    closers.push(() => map.close())
    const items: unknown[] = []
    const reading = (async () => {
      for await (const { data } of map.subscribe("demo.numbers")) items.push(data)
    })()
    await waitFor(() => expect(items).toEqual([1, 2, 3]))

    await first.close()
    gate.resolve()
    const again = await serveHTTP(registry, { ...options, port: Number(new URL(url).port) })
    closers.push(() => again.close())

    await reading
    expect(items).toEqual([1, 2, 3, 4, 5, 6])
  })

  test("that wait for their server end when they are left", async () => {
    const { map, pass, asked } = absent(50_000)
    const controller = new AbortController()
    const reading = read(map, "demo.resumable", controller.signal)
    await pass(10_000)
    const attempts = asked.length

    controller.abort()
    await pass(60_000)

    expect((await reading).error?.code).toBe("ABORTED")
    expect(asked).toHaveLength(attempts)
  })

  test("are cut off when their server ends without a word", async () => {
    const { url } = await listen((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end(
        'id: 1\r\ndata: {"data":1,\r\ndata: "meta":{"source":"local","operationId":"a.b","timestamp":1}}\r\n\r\n: beat\n\n',
      )
    })
    const map = new PendingRequestMap(createHTTPTransport(url, { resumeMs: 0 }))
    closers.push(() => map.close())
    const { items, error } = await read(map, "demo.count")
    expect(items).toEqual([1])
    expect(error).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
  })

  test("with a slow consumer slow their producer once the buffers are full", async () => {
    let made = 0
    const flood = defineOperation({
      ...base,
      name: "flood",
      type: "subscription",
      async *handler() {
        for (; made < 5000; made++) yield "x".repeat(64 * 1024)
      },
    })
    const { map } = await connect(createRegistry([flood]))
    const stream = map.subscribe("demo.flood", undefined, { window: 2 })
    await stream.next()
    let before = -1
    while (made !== before) {
      before = made
      await sleep(300)
    }
    expect(made).toBeLessThan(1000)
    await stream.return()
  })

  test("200 of them at once leave nothing behind", async () => {
    let running = 0
    const endless = defineOperation({
      ...base,
      name: "endless",
      type: "subscription",
      async *handler(_input, { signal }) {
        running++
        try {
          yield 1
          await once(signal, "abort")
        } finally {
          running--
        }
      },
    })
    const { map } = await connect(createRegistry([endless]), {}, { sse: { maxStreams: 500 } })
    const streams = Array.from({ length: 200 }, () => map.subscribe("demo.endless"))
    for (const stream of streams) expect((await stream.next()).value?.data).toBe(1)
    expect(running).toBe(200)
    await Promise.all(streams.map((stream) => stream.return()))
    await waitFor(() => expect(running).toBe(0))
    expect(map.getPendingCount()).toBe(0)
  })
})

describe("createHTTPTransport", () => {
  test.each(["", "ftp://example.com", "example.com", "https://ada:secret@example.com"])(
    "refuses the URL %j, without repeating it",
    (url) => {
      expect(() => createHTTPTransport(url)).toThrow(
        /url must be one such as "https:\/\/example.com"/,
      )
      expect(() => createHTTPTransport(url)).not.toThrow(/secret/)
    },
  )

  test("sends no headers to another machine without TLS unless it may", () => {
    const headers = { authorization: "Bearer secret" }
    expect(() => createHTTPTransport("http://example.com", { headers })).toThrow(
      /example.com has no TLS.*insecure/,
    )
    createHTTPTransport("http://example.com", { headers, insecure: true })
    createHTTPTransport("http://localhost:3000", { headers })
  })

  test("serves no calls", () => {
    const transport = createHTTPTransport("https://example.com")
    expect(() => serveCalls(createRegistry([echo]), { transport })).toThrow(
      /cannot call back over HTTP/,
    )
  })

  test("refuses calls after it was closed, and stops waiting for another attempt", async () => {
    const { url, http } = await listen(() => undefined)
    http.close()
    await once(http, "close")
    const transport = createHTTPTransport(url, { retries: 50 })
    const client = createClient(transport)
    const call = failure(client.call("demo.echo", 1))
    await sleep(50)
    await client.close()
    expect((await call).code).toBe("ABORTED")
    expect(() =>
      transport.send({ type: "call.requested", requestId: "1", operationId: "a.b" }),
    ).toThrow(/closed/)
  })
})
