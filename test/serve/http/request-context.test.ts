import { createServer } from "node:http"
import { afterEach, describe, expect, test } from "vitest"
import { CallError, createRegistry, defineContextValue, httpResponse } from "../../../src/index.ts"
import type { AnyRegistry, OperationContext } from "../../../src/index.ts"
import { defineOperation } from "../../../src/core/define.ts"
import { readCookie, toHTTP } from "../../../src/to-http.ts"
import type { HTTPServerOptions, ProvideHTTPContext } from "../../../src/to-http.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"
import { rawRequest } from "../mcp/support/clients.ts"
import { base } from "./support.ts"

const tenant = defineContextValue<string>("tenant")
const locale = defineContextValue<string>("locale")
let runs = 0
const cleanups: (() => unknown)[] = []

afterEach(async () => {
  runs = 0
  for (const clean of cleanups.splice(0)) await clean()
})

function registryWith(resilience = {}): AnyRegistry {
  const handler = (_: unknown, context: OperationContext): string =>
    `${tenant.read(context)} ${++runs}`
  return createRegistry([
    defineOperation({ ...base, name: "tenant", type: "query", resilience, handler }),
    defineOperation({ ...base, name: "change", type: "mutation", handler }),
    defineOperation({
      ...base,
      name: "stream",
      type: "subscription",
      async *handler(_, context) {
        yield tenant.read(context)
      },
    }),
    defineOperation({
      ...base,
      name: "both",
      type: "query",
      handler: (_, context) => [tenant.read(context), locale.read(context), context.metadata],
    }),
  ])
}

function open(
  context: ProvideHTTPContext | undefined,
  options: HTTPServerOptions = {},
  registry = registryWith(),
) {
  const lines: string[] = []
  const keep = (message: string, fields?: object): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`)
  const logger = { debug: () => {}, info: () => {}, warn: keep, error: keep }
  const api = toHTTP(registry, { logger, context, ...options })
  cleanups.push(() => api.close())
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    api.fetch(new Request(`http://localhost${path}`, init))
  const post = (path: string, value: unknown = {}, headers = {}): Promise<Response> =>
    send(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(value),
    })
  return { api, lines, send, post }
}

const fromHeader: ProvideHTTPContext = ({ headers }) =>
  tenant.provide(headers.get("x-tenant") ?? "none")

describe("the option context of toHTTP", () => {
  test("provides values over REST, gateway, batch and events", async () => {
    const { send, post } = open(fromHeader)
    const headers = { "x-tenant": "acme" }
    expect(await (await send("/api/demo/tenant", { headers })).json()).toBe("acme 1")
    const gateway = await post("/operations/demo.tenant", {}, headers)
    expect(await gateway.json()).toMatchObject({ data: "acme 2" })
    const batch = await post("/batch", [{ id: "demo.tenant" }, { id: "demo.change" }], headers)
    expect(await batch.text()).toMatch(/"acme 3".*"acme 4"/)
    const events = await send("/api/demo/stream", { headers })
    expect(await events.text()).toContain('data: "acme"')
  })

  test.each<[string, ProvideHTTPContext]>([
    ["a list", () => [tenant.provide("a"), {}, locale.provide("de")]],
    ["one object", () => ({ ...tenant.provide("a"), ...locale.provide("de") })],
    ["a promise", async () => [tenant.provide("a"), locale.provide("de")]],
  ])("takes %s, beside the metadata of the request", async (_, context) => {
    const { send } = open(context)
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    const answer = await send("/api/demo/both", { headers: { traceparent } })
    expect(await answer.json()).toEqual(["a", "de", { traceparent }])
  })

  test("may provide nothing", async () => {
    for (const context of [() => undefined, () => [], () => ({}), async () => undefined]) {
      const { send, lines } = open(context)
      expect((await send("/api/demo/tenant")).status).toBe(500)
      expect(lines.join()).toContain('The context value \\"tenant\\" was not provided')
    }
  })

  test("is asked once per call, after authentication, with the caller and the request", async () => {
    const asked: unknown[] = []
    const context: ProvideHTTPContext = (request, info) => {
      const { method, url, headers, cookies } = request
      expect(request.cookies).toBe(cookies)
      expect(request.headers).toBe(headers)
      asked.push([method, url, [...cookies], info.operationId, info.identity?.id, info.requestId])
      expect(info.raw).toBeInstanceOf(Request)
      return tenant.provide("t")
    }
    const authenticate: HTTPServerOptions["authenticate"] = (request) => {
      const id = readCookie(request, "sid")
      return id === undefined ? undefined : { id, scopes: [] }
    }
    const { send, post } = open(context, { authenticate })
    expect((await send("/api/demo/tenant")).status).toBe(401)
    expect((await send("/openapi.json", { headers: { cookie: "sid=ada" } })).status).toBe(200)
    expect((await send("/api/demo/nothing", { headers: { cookie: "sid=ada" } })).status).toBe(404)
    expect(asked).toEqual([])
    const headers = { cookie: '__proto__=1; sid=%61da; sid=eve; bad=%; =x; quoted="q"' }
    await send("/api/demo/tenant?a=1", { headers: { ...headers, "request-id": "r1" } })
    const calls = [
      { id: "demo.tenant", requestId: "one" },
      { id: "demo.change", requestId: "two" },
    ]
    await post("/batch", calls, { cookie: "sid=ada" })
    const url = "http://localhost"
    const all = [
      ["__proto__", "1"],
      ["sid", "ada"],
      ["bad", "%"],
      ["quoted", "q"],
    ]
    expect(asked).toEqual([
      ["GET", `${url}/api/demo/tenant?a=1`, all, "demo.tenant", "ada", "r1"],
      ["POST", `${url}/batch`, [["sid", "ada"]], "demo.tenant", "ada", "one"],
      ["POST", `${url}/batch`, [["sid", "ada"]], "demo.change", "ada", "two"],
    ])
  })

  test("gets the request of Node, with what middleware left on it", async () => {
    const { api } = open((_, { raw }) => tenant.provide((raw as { user: string }).user))
    const server = createServer((request, response) => {
      api.node(Object.assign(request, { user: "passport" }), response)
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    cleanups.push(() => server.close())
    const { port } = server.address() as { port: number }
    const answer = await fetch(`http://127.0.0.1:${port}/api/demo/tenant`)
    expect(await answer.json()).toBe("passport 1")
  })

  test.each([false, true])(
    "fails with the code that it throws; asynchronously: %s",
    async (late) => {
      const { send, post, lines } = open(() => {
        const error = new CallError("UNAUTHENTICATED", "Log in first.")
        if (late) return Promise.reject(error)
        throw error
      })
      const answer = await send("/api/demo/tenant")
      expect(answer.status).toBe(401)
      expect(await answer.json()).toMatchObject({
        code: "UNAUTHENTICATED",
        detail: "Log in first.",
        mayHaveExecuted: false,
      })
      expect((await send("/api/demo/stream")).status).toBe(401)
      expect((await post("/operations/demo.change")).status).toBe(401)
      expect(await (await post("/batch", [{ id: "demo.change" }])).text()).toContain(
        "Log in first.",
      )
      expect([runs, lines]).toEqual([0, []])
    },
  )

  test.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("postgres://secret")
      },
    ],
    ["rejects", () => Promise.reject(new Error("postgres://secret"))],
    [
      "throws a string",
      () => {
        throw "postgres://secret"
      },
    ],
    ["returns named members", () => ({ tenant: "secret" })],
    ["returns named members in a list", () => [{ tenant: "secret" }]],
    ["returns null", () => null],
    ["returns a string", () => "secret"],
  ])("that %s is a 500 that says nothing, and nothing runs", async (_, context) => {
    const { send, post, lines } = open(context as ProvideHTTPContext)
    for (const answer of [await send("/api/demo/tenant"), await post("/api/demo/change")]) {
      const text = await answer.text()
      expect(answer.status).toBe(500)
      expect(text).not.toContain("secret")
      expect(JSON.parse(text)).toMatchObject({ code: "EXECUTION_ERROR", mayHaveExecuted: false })
    }
    expect(runs).toBe(0)
    expect(lines[0]).toContain("context")
  })

  test("that does not end is ended", async () => {
    const clock = new VirtualClock()
    const { send } = open(() => new Promise(() => {}), { clock, authenticateTimeout: 50 })
    const answer = send("/api/demo/tenant")
    await clock.advance(51)
    expect((await answer).status).toBe(504)
    expect(runs).toBe(0)
  })

  test("separates what is cached for different values", async () => {
    const { send } = open(fromHeader, {}, registryWith({ cache: { ttl: 60_000 } }))
    const as = async (name: string): Promise<unknown> =>
      await (await send("/api/demo/tenant", { headers: { "x-tenant": name } })).json()
    expect([await as("a"), await as("b"), await as("a")]).toEqual(["a 1", "b 2", "a 1"])
  })

  test("cannot be replaced by metadata of a client", async () => {
    const { post } = open(fromHeader)
    const metadata = { tenant: "evil", "Symbol(tenant)": "evil" }
    const batch = await post("/batch", [{ id: "demo.tenant", metadata }], { "x-tenant": "acme" })
    expect(await batch.text()).toContain('"acme 1"')
  })

  test("provides values for the tools of a mounted MCP server", async () => {
    const registry = registryWith()
    await using mcp = toMCP(registry)
    const { send } = open(
      async ({ headers, url }, { operationId }) =>
        tenant.provide(`${headers.get("x-tenant")} ${new URL(url).pathname} ${operationId}`),
      { mounts: { "/mcp": mcp } },
      registry,
    )
    for (const name of ["demo_tenant", "demo_stream"]) {
      const init = rawRequest("tools/call", { params: { name, arguments: {} } })
      const headers = new Headers(init.headers)
      headers.set("x-tenant", "acme")
      const answer = await send("/mcp", { ...init, headers })
      expect(await answer.text()).toContain(`acme /mcp ${name.replace("_", ".")}`)
    }
  })

  test("that throws for a tool is the error of the tool", async () => {
    const registry = registryWith()
    await using mcp = toMCP(registry)
    const refuse = (): never => {
      throw new CallError("ACCESS_DENIED", "Not from here.")
    }
    const { send } = open(refuse, { mounts: { "/mcp": mcp } }, registry)
    const init = rawRequest("tools/call", { params: { name: "demo_tenant", arguments: {} } })
    const text = await (await send("/mcp", init)).text()
    expect(text).toContain("Not from here.")
    expect(runs).toBe(0)
  })

  test("is separate from what the handler sets on the response", async () => {
    const registry = createRegistry([
      defineOperation({
        ...base,
        name: "renew",
        type: "mutation",
        handler: (_, context) => httpResponse.read(context).setCookie("t", tenant.read(context)),
      }),
    ]) as unknown as AnyRegistry
    const { post } = open(async (...args) => fromHeader(...args), {}, registry)
    const answer = await post("/api/demo/renew", {}, { "x-tenant": "acme" })
    expect(answer.headers.getSetCookie()[0]).toMatch(/^t=acme;/)
  })
})
