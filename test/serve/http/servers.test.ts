import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, test } from "vitest"
import { PendingRequestMap } from "../../../src/protocol/pending/request-map.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import type { ServedHTTP } from "../../../src/node.ts"
import { serveHTTP } from "../../../src/node.ts"
import { hashApiKey, toHTTP } from "../../../src/to-http.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { createWebSocketTransport } from "../../../src/websocket.ts"
import { demo, eventsOf, post, raw, serve, upgradeStatus, useServers } from "./support.ts"

const { start, cleanups } = useServers()

describe("listening", () => {
  test("gives an address under which everything is", async () => {
    const { api } = await start({ basePath: "/v1" })
    expect(api.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
    expect((await post(`${api.url}/operations/demo.echo`, 1)).status).toBe(200)
    expect((await post(`${api.url}/api/demo/echo`, 1)).status).toBe(200)
    expect((await fetch(`${api.url}/livez`)).status).toBe(200)
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200)
    expect(await (await fetch(`${api.url}/openapi.json`)).json()).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\./) as string,
      paths: { "/v1/api/demo/echo": {} },
    })
    expect((await fetch(new URL("/operations", api.url))).status).toBe(404)
  })

  test("where others can reach it needs to know who calls", async () => {
    const { registry } = demo()
    await expect(serve(registry, { host: "0.0.0.0" })).rejects.toThrow(/auth or authenticate/)
    const hash = hashApiKey("a-long-key-of-a-test")
    const auth = { apiKeys: [{ hash, identity: { id: "me", scopes: [] } }] }
    const { api } = await start({ host: "0.0.0.0", auth })
    const url = `http://127.0.0.1:${new URL(api.url).port}/operations`
    expect((await fetch(url)).status).toBe(401)
    const headers = { "x-api-key": "a-long-key-of-a-test" }
    expect((await fetch(url, { headers })).status).toBe(200)
  })

  test("on a port that is taken says so", async () => {
    const { api } = await start()
    const port = Number(new URL(api.url).port)
    await expect(serve(demo().registry, { port })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining(`127.0.0.1:${port}`) as string,
    })
  })

  test("refuses options that make no sense", () => {
    const { registry } = demo()
    expect(() => toHTTP({} as never)).toThrow(/registry must be/)
    expect(() => toHTTP(registry, { basePath: "v1/" })).toThrow(/basePath/)
    expect(() => toHTTP(registry, { rest: { path: "/a/../b" } })).toThrow(/rest\.path/)
    expect(() => toHTTP(registry, { maxBodyBytes: -1 })).toThrow(/maxBodyBytes/)
    expect(() => toHTTP(registry, { timeout: 0 })).toThrow(/timeout/)
    expect(() => toHTTP(registry, { rest: { path: "/operations" } })).not.toThrow()
    expect(() => toHTTP(registry, { mounts: { "/x": {} as never } })).toThrow(/mounts/)
    expect(() => toHTTP(registry, { expose: { include: "x" as never } })).toThrow(/toHTTP\(\)/)
  })

  test("on a server of yours leaves it open", async () => {
    const server = createServer()
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve)
    })
    cleanups.push(() => server.close())
    const api = await serveHTTP(demo().registry, { server, logger: silentLogger })
    const { port } = server.address() as AddressInfo
    expect(api.url).toBe(`http://127.0.0.1:${port}`)
    expect((await post(`${api.url}/operations/demo.echo`, 1)).status).toBe(200)
    await api.close()
    expect(server.listening).toBe(true)
    expect(server.listenerCount("request") + server.listenerCount("upgrade")).toBe(0)
    server.closeAllConnections()
  })
})

describe("slow and large clients", () => {
  test("have so long for their headers", async () => {
    const { api } = await start({ requestTimeout: 100 })
    const text = await raw(api.url, "GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ")
    expect(text).toMatch(/^HTTP\/1.1 408 /)
  })

  test("have so long for their body", async () => {
    const { api, seen } = await start({ requestTimeout: 100 })
    const head = "POST /operations/demo.echo HTTP/1.1\r\nhost: 127.0.0.1\r\n"
    const body = "content-type: application/json\r\ncontent-length: 50\r\n\r\n{"
    expect(await raw(api.url, `${head}${body}`)).toMatch(/^HTTP\/1.1 408 /)
    expect(seen.runs).toBe(0)
  })

  test("may send so many headers", async () => {
    const { api } = await start()
    const head = "GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n"
    const large = await raw(api.url, `${head}x-large: ${"x".repeat(64 * 1024)}\r\n\r\n`)
    expect(large).toMatch(/^HTTP\/1.1 431 /)
    const many = await raw(api.url, `${head}${"x: y\r\n".repeat(10_000)}\r\n`)
    expect(many).toMatch(/^HTTP\/1.1 431 /)
  })
})

describe("closing", () => {
  test("waits for what runs and takes nothing new", async () => {
    const { api, seen } = await start()
    const running = post(`${api.url}/operations/demo.gate`)
    await seen.waiting.promise
    const closed = api.close()
    const ready = await fetch(`${api.url}/readyz`)
    expect([ready.status, (await fetch(`${api.url}/livez`)).status]).toEqual([503, 200])
    const refused = await post(`${api.url}/operations/demo.echo`, 1)
    expect(refused.status).toBe(503)
    expect(refused.headers.get("retry-after")).toBe("1")
    seen.gate.resolve()
    expect(await (await running).json()).toMatchObject({ data: "through" })
    await closed
    await expect(fetch(`${api.url}/livez`)).rejects.toThrow("fetch failed")
    await api.close()
  })

  test("ends what does not end", async () => {
    const { api, seen } = await start({ drainMs: 10 })
    const running = post(`${api.url}/operations/demo.hang`)
    await seen.waiting.promise
    await api.close()
    expect((await running).status).toBe(503)
    await seen.ended.promise
  })

  test("closes connections on which nothing is asked for", async () => {
    const { api } = await start()
    const text = raw(api.url, "GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
    await fetch(`${api.url}/livez`)
    await api.close()
    expect(await text).toMatch(/^HTTP\/1.1 200 /)
  })

  test("comes with a signal, where that is asked for", async () => {
    const before = process.listenerCount("SIGUSR2")
    const { api } = await start({ signals: ["SIGUSR2"] })
    expect(process.listenerCount("SIGUSR2")).toBe(before + 1)
    process.emit("SIGUSR2")
    await api.close()
    await expect(fetch(`${api.url}/livez`)).rejects.toThrow("fetch failed")
    expect(process.listenerCount("SIGUSR2")).toBe(before)
  })
})

describe("WebSockets", () => {
  const connect = (api: ServedHTTP): PendingRequestMap => {
    const transport = createWebSocketTransport(`${api.url.replace("http", "ws")}/ws`)
    const calls = new PendingRequestMap(transport)
    cleanups.push(() => calls.close())
    return calls
  }

  test("speak the call protocol under /ws", async () => {
    const { api } = await start()
    expect((await connect(api).call("demo.echo", { a: 1 })).data).toEqual({ a: 1 })
  })

  test("see what is exposed, and nothing else", async () => {
    const { api } = await start({ expose: { exclude: ["other.*"] } })
    const calls = connect(api)
    await expect(calls.call("other.echo", 1)).rejects.toMatchObject({ code: "OPERATION_NOT_FOUND" })
    const answer = await post(`${api.url}/operations/other.echo`, 1)
    expect(answer.status).toBe(404)
    const near = await post(`${api.url}/operations/other.ech`, 1)
    expect(await near.text()).not.toContain("other.echo")
    expect((await calls.call("demo.echo", 1)).data).toBe(1)
    const { data } = await calls.call("services.list", {})
    expect(JSON.stringify(data)).not.toContain("other.echo")
  })

  test("need a credential where requests do, and come from where requests may", async () => {
    const authenticate = () => undefined
    const { ws } = await start({ authenticate })
    expect(await upgradeStatus(ws)).toBe(401)
    const { ws: open } = await start()
    expect(await upgradeStatus(open, { origin: "https://evil.test" })).toBe(403)
  })

  test("are nowhere else", async () => {
    const { api } = await start()
    const at = api.url.replace("http", "ws")
    expect(await upgradeStatus(`${at}/other`)).toBe(404)
    const { ws } = await start({ websocket: false })
    expect(await upgradeStatus(ws)).toBe(404)
  })
})

describe("beside it", () => {
  test("an MCP server answers under /mcp", async () => {
    const { registry } = demo()
    const mcp = toMCP(registry, { logger: silentLogger })
    cleanups.push(() => mcp.close())
    const { api } = await start({ mcp })
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      },
    }
    const headers = { accept: "application/json, text/event-stream" }
    const answer = await post(`${api.url}/mcp`, message, { headers })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain("serverInfo")
    expect((await post(`${api.url}/mcpx`, message)).status).toBe(404)
  })

  test("a handler answers what is below its path", async () => {
    await using api = toHTTP(demo().registry, {
      logger: silentLogger,
      mounts: { "/hello": ({ path }) => ({ status: 200, headers: {}, body: path }) },
    })
    const answer = await api.fetch(new Request("http://localhost/hello/you"))
    expect(await answer.text()).toBe("/hello/you")
  })
})

test("what others mount cannot end the process", async () => {
  const { api } = await start({
    mounts: {
      "/throws": () => {
        throw new Error("of a mount")
      },
      "/rejects": () => Promise.reject(new Error("of a mount")),
      "/splits": () => ({ status: 200, headers: { x: "a\r\nset-cookie: b" }, body: "" }),
    },
  })
  for (const path of ["throws", "rejects"]) {
    const answer = await fetch(`${api.url}/${path}`)
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain("of a mount")
  }
  await expect(fetch(`${api.url}/splits`)).rejects.toThrow("fetch failed")
  expect((await fetch(`${api.url}/livez`)).status).toBe(200)
})

describe("fetch", () => {
  test("answers as a port does", async () => {
    const { registry } = demo()
    await using api = toHTTP(registry, { logger: silentLogger, maxBodyBytes: 100 })
    const ask = (path: string, body?: string): Promise<Response> =>
      api.fetch(
        new Request(`http://localhost${path}`, {
          method: "POST",
          headers: body === undefined ? {} : { "content-type": "application/json" },
          body: body ?? null,
        }),
      )
    expect(await (await ask("/operations/demo.echo", '{"a":1}')).json()).toMatchObject({
      data: { a: 1 },
    })
    expect((await ask("/operations/demo.echo", '"\\""x')).status).toBe(400)
    expect((await ask("/operations/demo.echo", `"${"x".repeat(200)}"`)).status).toBe(413)
    expect((await ask("/operations/demo.inner")).status).toBe(404)
    const headless = await api.fetch(
      new Request("http://localhost/operations/demo.echo", { method: "HEAD" }),
    )
    expect([headless.status, await headless.text()]).toEqual([200, ""])
  })

  test("accepts an identity that the application passes", async () => {
    const { registry } = demo()
    await using api = toHTTP(registry, { logger: silentLogger, authenticate: () => undefined })
    const headers = { accept: "text/event-stream" }
    const request = (): Request => new Request("http://localhost/api/demo/secret", { headers })
    expect((await api.fetch(request())).status).toBe(401)
    expect((await api.fetch(request(), { identity: null })).status).toBe(403)
    const identity = { id: "me", scopes: ["secret"] }
    const answer = await api.fetch(request(), { identity })
    expect(eventsOf(await answer.text())).toHaveLength(2)
  })

  test("aborts the handler of a cancelled request", async () => {
    const { registry, seen } = demo()
    await using api = toHTTP(registry, { logger: silentLogger })
    const controller = new AbortController()
    const { signal } = controller
    const url = "http://localhost/operations/demo.hang"
    const answer = api.fetch(new Request(url, { method: "POST", signal }))
    await seen.waiting.promise
    controller.abort()
    await seen.ended.promise
    expect((await answer).status).toBe(499)
  })
})

test("many requests at the same time are all answered", async () => {
  const { api, seen } = await start()
  const worker = async (name: number): Promise<void> => {
    for (let at = 0; at < 4; at++) {
      const answer = await post(`${api.url}/api/demo/echo`, { name, at })
      expect(await answer.json()).toEqual({ name, at })
    }
  }
  await Promise.all(Array.from({ length: 50 }, (_, name) => worker(name)))
  expect(seen.runs).toBe(200)
})
