import { createServer } from "node:http"
import { Type } from "typebox"
import { afterEach, describe, expect, test } from "vitest"
import { CallError, createClient, createRegistry, httpResponse } from "../../../src/index.ts"
import type { AnyRegistry, HTTPResponse, Middleware } from "../../../src/index.ts"
import type { OperationContext, OperationRegistry } from "../../../src/index.ts"
import { defineOperation } from "../../../src/core/define.ts"
import { createHTTPTransport } from "../../../src/http.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { serveHTTP } from "../../../src/node.ts"
import { toHTTP } from "../../../src/to-http.ts"
import type { HTTPServerOptions } from "../../../src/to-http.ts"
import { base } from "./support.ts"

type Act = (response: HTTPResponse, context: OperationContext) => unknown

/** What the handlers of `demo.query`, `demo.mutation`, `demo.stream` and `demo.nested` do. */
let act: Act = () => undefined
const cleanups: (() => unknown)[] = []

afterEach(async () => {
  act = () => undefined
  for (const clean of cleanups.splice(0)) await clean()
})

const run = (_: unknown, context: OperationContext): unknown =>
  act(httpResponse.read(context), context)

function registryWith(cache = {}, key = {}): AnyRegistry & Pick<OperationRegistry, "use"> {
  return createRegistry([
    defineOperation({ ...base, name: "query", type: "query", resilience: cache, handler: run }),
    defineOperation({ ...base, name: "mutation", type: "mutation", resilience: key, handler: run }),
    defineOperation({ ...base, name: "plain", type: "query", handler: () => "plain" }),
    defineOperation({
      ...base,
      name: "stream",
      type: "subscription",
      async *handler(_, context) {
        act(httpResponse.read(context), context)
        yield 1
        await new Promise((resolve) => setTimeout(resolve, 5))
        act(httpResponse.read(context), context)
        yield 2
      },
    }),
    defineOperation({
      ...base,
      name: "outer",
      type: "mutation",
      handler: async (_, context) => (await context.call("demo.mutation", {})).data,
    }),
  ])
}

function open(options: HTTPServerOptions = {}, registry = registryWith()) {
  const lines: string[] = []
  const keep = (message: string, fields?: object): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`)
  const logger = { lines, debug: () => {}, info: () => {}, warn: keep, error: keep }
  const api = toHTTP(registry, { logger, ...options })
  cleanups.push(() => api.close())
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    api.fetch(new Request(`http://localhost${path}`, init))
  const post = (path: string, value: unknown = {}, headers = {}): Promise<Response> =>
    send(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(value),
    })
  return { api, logger, send, post, registry }
}

const everything: Act = (response) => {
  response.status = 302
  response.headers.set("location", "/elsewhere")
  response.headers.set("cache-control", "public, max-age=60")
  response.headers.set("etag", '"v1"')
  response.headers.append("x-own", "1")
  response.headers.append("vary", "accept-language")
  response.setCookie("sid", "1")
  return { data: true }
}

describe("over REST", () => {
  test("a redirect without a location is reported, and the result is sent", async () => {
    const { send, logger } = open()
    act = (response) => {
      response.status = 303
      return "data"
    }
    const answer = await send("/api/demo/query")
    expect([answer.status, await answer.json()]).toEqual([200, "data"])
    expect(logger.lines.join()).toContain("303")
  })

  test.each([301, 302, 303, 307, 308])("a redirect with %i has no body", async (status) => {
    const { send } = open()
    act = (response) => {
      response.status = status
      response.headers.set("location", "https://example.com/a?b#c")
      return new Blob(["a file"])
    }
    const answer = await send("/api/demo/query", { redirect: "manual" })
    expect([answer.status, await answer.text()]).toEqual([status, ""])
    expect(answer.headers.get("content-disposition")).toBeNull()
  })

  test("a result that is undefined keeps the status", async () => {
    const { post } = open()
    act = (response) => void (response.status = 201)
    const answer = await post("/api/demo/mutation")
    expect([answer.status, await answer.text()]).toEqual([201, ""])
  })

  test.each([
    ['"v1"', 304],
    ['W/"v1"', 304],
    ['"a", W/"v1" , "b"', 304],
    ["*", 304],
    ['"v2"', 200],
    ["v1", 200],
    ['"v', 200],
    ["", 200],
    ['"a,"v1"', 200],
  ])("If-None-Match: %s is answered with %i", async (known, status) => {
    const { send, post } = open()
    act = (response) => {
      response.headers.set("etag", 'W/"v1"')
      response.setCookie("a", "1")
      return "data"
    }
    const answer = await send("/api/demo/query", { headers: { "if-none-match": known } })
    expect(answer.status).toBe(status)
    expect(answer.headers.get("etag")).toBe('W/"v1"')
    expect(answer.headers.getSetCookie()).toHaveLength(1)
    expect((await post("/api/demo/query", {}, { "if-none-match": known })).status).toBe(200)
  })

  test("an error has its own status, cookies, and headers that are not about the result", async () => {
    const { post } = open()
    act = (response) => {
      everything(response, {} as never)
      throw new CallError("NOT_LOGGED_IN", "No.")
    }
    for (const path of ["/api/demo/mutation", "/operations/demo.mutation"]) {
      const { status, headers } = await post(path)
      expect(status).toBe(500)
      expect(headers.getSetCookie()).toHaveLength(1)
      expect(headers.get("x-own")).toBe("1")
      expect(headers.get("cache-control")).toBe("no-store")
      expect(headers.get("content-type")).toBe("application/problem+json")
      expect([headers.get("location"), headers.get("etag")]).toEqual([null, null])
    }
  })

  test.each([
    ["an attempt", { retry: { attempts: 2, delay: 1 } }],
    ["a handler with a fallback", { fallback: () => "second" }],
  ])(
    "what %s sets before it fails says nothing about the result that follows",
    async (_, policy) => {
      const { send } = open({}, registryWith(policy))
      let isFirst = true
      act = (response, context) => {
        if (!isFirst) return "second"
        isFirst = false
        everything(response, context)
        throw new CallError("UNAVAILABLE", "No.", { retryable: true })
      }
      const { status, headers } = await send("/api/demo/query")
      expect(status).toBe(200)
      expect([headers.get("location"), headers.get("etag")]).toEqual([null, null])
      expect(headers.get("cache-control")).toBe("no-store")
      expect(headers.getSetCookie()).toHaveLength(1)
      expect(headers.get("x-own")).toBe("1")
    },
  )

  test("a header that cannot be sent is an error of the handler, which clients do not read", async () => {
    const { post, logger } = open()
    act = ({ headers }) => headers.set("x-a", "1\r\nset-cookie: stolen=1")
    const answer = await post("/api/demo/mutation")
    expect(answer.status).toBe(500)
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(await answer.text()).not.toContain("line break")
    expect(logger.lines.join()).toContain("line break")
  })

  test("the output schema still applies", async () => {
    const registry = createRegistry(
      [
        defineOperation({
          ...base,
          name: "mutation",
          type: "mutation",
          outputSchema: Type.Object({ n: Type.Integer() }),
          handler: (_, context) => {
            everything(httpResponse.read(context), context)
            return { n: "no" } as never
          },
        }),
      ],
      { output: "strict" },
    )
    const { post } = open({}, registry)
    const answer = await post("/api/demo/mutation")
    expect([answer.status, answer.headers.get("location")]).toEqual([502, null])
  })

  test("pages that may read the response may read its headers", async () => {
    const origin = "https://app.example.com"
    const { post } = open({ cors: { origins: [origin], credentials: true } })
    act = everything
    const { headers } = await post("/operations/demo.mutation", {}, { origin })
    expect(headers.get("access-control-allow-credentials")).toBe("true")
    expect(headers.get("access-control-expose-headers")).toContain(", etag, ")
    expect(headers.get("vary")).toMatch(/Origin.*, accept-language$/)
    expect(headers.getSetCookie()).toHaveLength(1)
  })

  test("what middleware sets is sent, and a handler may change it", async () => {
    const registry = registryWith()
    const own: Middleware = {
      call(call, next) {
        const response = httpResponse.read(call)
        response.headers.set("x-own", "outer")
        response.status = 202
        return next({})
      },
    }
    registry.use(own)
    const { post } = open({}, registry)
    const answer = await post("/api/demo/mutation")
    expect([answer.status, answer.headers.get("x-own")]).toEqual([202, "outer"])
    act = ({ headers }) => headers.append("x-own", "inner")
    expect((await post("/api/demo/mutation")).headers.get("x-own")).toBe("outer, inner")
  })
})

describe("a cookie is Secure", () => {
  const post = (headers: object): RequestInit => ({
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: "{}",
  })

  test.each([
    ["http://localhost:3000", {}, false],
    ["http://127.0.0.1", {}, false],
    ["http://[::1]:1", {}, false],
    ["http://localhost:3000", { "x-forwarded-proto": "https" }, true],
    ["http://localhost:3000", { origin: "https://localhost:3000" }, true],
    ["https://localhost:3000", {}, true],
    ["http://app.example.com", {}, true],
    ["http://localhost.example.com", {}, true],
  ])("for %s with %j: %s", async (url, headers, isSecure) => {
    const { api } = open({ allowedHosts: ["app.example.com", "localhost.example.com"] })
    act = (response) => response.setCookie("a", "1")
    const answer = await api.fetch(new Request(`${url}/api/demo/mutation`, post(headers)))
    expect(answer.status).toBe(204)
    expect(answer.headers.getSetCookie()[0]?.includes("; Secure")).toBe(isSecure)
  })

  test("for any other host that a Node request names, even an invalid one", async () => {
    const hosts = ["localhost.", "a b", "localhost@evil.example"]
    const { api } = open({ authenticate: () => null, allowedHosts: hosts })
    act = (response) => response.setCookie("a", "1")
    const server = createServer((request, response) => {
      request.headers.host = request.headers["x-host"] as string
      api.node(request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    cleanups.push(() => server.close())
    const { port } = server.address() as { port: number }
    for (const [host, isSecure] of [
      ["localhost:1", false],
      ["localhost.", true],
      ["a b", true],
      ["localhost@evil.example", true],
    ] as const) {
      const init = post({ "x-host": host })
      const answer = await fetch(`http://127.0.0.1:${port}/api/demo/mutation`, init)
      const [cookie] = answer.headers.getSetCookie()
      expect([answer.status, cookie?.includes("; Secure")]).toEqual([204, isSecure])
    }
  })
})

describe("over the gateway", () => {
  test("an envelope comes with headers and cookies, and with 200", async () => {
    const { post } = open()
    act = everything
    for (const path of ["/operations/demo.mutation", "/operations/demo.query"]) {
      const answer = await post(path)
      expect(answer.status).toBe(200)
      expect(answer.headers.getSetCookie()).toEqual(["sid=1; Path=/; HttpOnly; SameSite=Lax"])
      expect(answer.headers.get("x-own")).toBe("1")
      expect(await answer.json()).toMatchObject({ data: { data: true } })
    }
    const bare = await post("/operations/demo.mutation?unwrap")
    expect([bare.status, await bare.json()]).toEqual([200, { data: true }])
  })

  test("a client gets the data, whatever the status", async () => {
    const served = await serveHTTP(registryWith(), {
      port: 0,
      logger: silentLogger,
      websocket: false,
    })
    cleanups.push(() => served.close())
    const cookies: string[] = []
    const client = createClient(
      createHTTPTransport(served.url, {
        fetch: async (input, init) => {
          const response = await fetch(input, init)
          cookies.push(...response.headers.getSetCookie())
          return response
        },
      }),
    )
    cleanups.push(() => client.close())
    for (const status of [200, 201, 204, 205, 302, 304]) {
      act = (response) => {
        response.status = status
        response.headers.set("location", "/elsewhere")
        response.setCookie("a", String(status))
        return { status }
      }
      expect((await client.call("demo.mutation", {})).data).toEqual({ status })
      // Sent as a batch of one.
      const { data } = await client.call("demo.query", {}, { metadata: { a: 1 } })
      expect(data).toEqual({ status })
    }
    expect(cookies).toHaveLength(12)
    act = (response) => void (response.status = 204)
    expect((await client.call("demo.mutation", {})).data).toBeUndefined()
  })
})

describe("in a batch", () => {
  const two = [{ id: "demo.mutation" }, { id: "demo.plain" }, { id: "demo.query" }]

  test("the cookies of all calls are sent, and nothing else", async () => {
    const { post } = open()
    let at = 0
    act = (response, context) => {
      everything(response, context)
      response.setCookie(`c${++at}`, "1")
      return at
    }
    const answer = await post("/batch", two)
    expect(answer.status).toBe(200)
    const names = answer.headers.getSetCookie().map((one) => one.split("=", 1).join())
    expect(names.toSorted()).toEqual(["c1", "c2", "sid", "sid"])
    for (const name of ["location", "x-own", "etag"]) expect(answer.headers.get(name)).toBeNull()
    expect(answer.headers.get("cache-control")).toBe("no-store")
    const { results } = (await answer.json()) as { results: { ok: boolean }[] }
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true])
  })

  test("of lines, which has begun, what is set is lost and reported once per call", async () => {
    const { post, logger } = open()
    act = everything
    const answer = await post("/batch", two, { accept: "application/x-ndjson" })
    expect((await answer.text()).match(/"ok":true/g)).toHaveLength(3)
    expect(answer.headers.getSetCookie()).toEqual([])
    const warnings = logger.lines.filter((line) => line.includes("response had begun"))
    expect(warnings).toHaveLength(2)
  })
})

describe("in a stream", () => {
  test("headers and cookies are those of the start; later ones are reported", async () => {
    const { send, logger } = open()
    let count = 0
    act = (response, context) => {
      everything(response, context)
      response.headers.set("x-own", String(++count))
    }
    for (const path of ["/api/demo/stream", "/operations/demo.stream"]) {
      count = 0
      const answer = await send(path, { headers: { accept: "text/event-stream" } })
      expect(answer.status).toBe(200)
      expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/)
      expect(answer.headers.get("x-own")).toBe("1")
      expect(answer.headers.getSetCookie()).toHaveLength(1)
      const text = await answer.text()
      expect(text.match(/^id: /gm)).toHaveLength(2)
      expect(text).toContain("event: end")
    }
    expect(logger.lines.filter((line) => line.includes("response had begun"))).toHaveLength(2)
  })
})

describe("what is set", () => {
  test("by an operation that a handler calls has no effect", async () => {
    const { post } = open()
    act = everything
    const answer = await post("/api/demo/outer")
    expect([answer.status, await answer.json()]).toEqual([200, { data: true }])
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(answer.headers.get("cache-control")).toBe("no-store")
  })

  test("by a call in another registry, or with the context as options, has no effect", async () => {
    const { post, registry } = open()
    const inner = registryWith()
    act = async (response, context) => {
      act = everything
      response.headers.set("x-first", "1")
      await inner.execute("demo.mutation", {}, context)
      await inner.execute("demo.mutation", {}, { ...context })
      await registry.execute("demo.mutation", {}, context)
      return "done"
    }
    const { status, headers } = await post("/api/demo/mutation")
    expect([status, headers.get("x-first"), headers.get("x-own")]).toEqual([200, "1", null])
    expect(headers.getSetCookie()).toEqual([])
  })

  test("is never sent with a result from a cache", async () => {
    const { send } = open({}, registryWith({ cache: { ttl: 60_000 } }))
    let runs = 0
    act = (response, context) => {
      runs++
      return everything(response, context)
    }
    const init = { redirect: "manual" } as const
    const first = await send("/api/demo/query", init)
    expect([first.status, first.headers.getSetCookie().length]).toEqual([302, 1])
    const second = await send("/api/demo/query", init)
    expect([second.status, await second.json()]).toEqual([200, { data: true }])
    expect(second.headers.getSetCookie()).toEqual([])
    expect(second.headers.get("x-own")).toBeNull()
    expect(runs).toBe(1)
  })

  test("is sent to the one caller whose call runs, if others share it", async () => {
    const { send } = open({}, registryWith({ cache: { ttl: 60_000 } }))
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    act = async (response, context) => {
      await gate
      everything(response, context)
      response.status = undefined
      return "shared"
    }
    const all = Array.from({ length: 5 }, () => send("/api/demo/query"))
    setTimeout(go, 20)
    const answers = await Promise.all(all)
    const cookies = answers.map(({ headers }) => headers.getSetCookie().length)
    expect(cookies.reduce((sum, one) => sum + one)).toBe(1)
    for (const answer of answers) expect(await answer.json()).toBe("shared")
  })

  test("is not repeated for an idempotency key", async () => {
    const { post } = open({}, registryWith({}, { idempotency: {} }))
    act = (response, context) => {
      everything(response, context)
      response.status = 201
      return "once"
    }
    const key = { "idempotency-key": "k" }
    const first = await post("/api/demo/mutation", {}, key)
    expect([first.status, first.headers.getSetCookie().length]).toEqual([201, 1])
    const second = await post("/api/demo/mutation", {}, key)
    expect([second.status, second.headers.getSetCookie().length]).toEqual([200, 0])
    expect(await second.json()).toBe("once")
  })

  test("after the result is lost and reported once, and throws nothing", async () => {
    const { post, logger } = open()
    let late: HTTPResponse | undefined
    act = (response) => void (late = response)
    const answer = await post("/api/demo/mutation")
    expect(answer.status).toBe(204)
    expect(logger.lines).toEqual([])
    late?.setCookie("a", "1")
    ;(late as HTTPResponse).status = 201
    late?.headers.set("x-a", "1")
    expect(late?.status).toBeUndefined()
    expect(logger.lines.join()).toContain("The HTTP response had begun")
    expect(logger.lines).toHaveLength(1)
  })

  test("in one request is not in the next", async () => {
    const { post } = open()
    act = everything
    await post("/operations/demo.mutation")
    act = (response) => [response.status, [...response.headers].length]
    expect(await (await post("/api/demo/mutation")).json()).toEqual([null, 0])
  })
})
