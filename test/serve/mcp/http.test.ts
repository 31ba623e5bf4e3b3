import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Client } from "@modelcontextprotocol/client"
import { describe, expect, test } from "vitest"
import { silentLogger } from "../../../src/testing.ts"
import type { Logger } from "../../../src/index.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { until } from "../../http-client/server.ts"
import { operation, quietRegistry, rejection, thrown } from "../../support/operations.ts"
import { answerOf, connect, initialize, messagesOf, rawRequest, textOf } from "./support/clients.ts"
import { fixture } from "./support/fixture.ts"

describe.each(["legacy", "modern"] as const)("a client of the %s era over HTTP", (era) => {
  test("lists and calls tools", async () => {
    await using server = toMCP(fixture().registry)
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, era)

    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain("demo_greet")
    const result = await client.callTool({ name: "demo_greet", arguments: { name: "Ada" } })
    expect(result.structuredContent).toEqual({ text: "Hello, Ada" })
    expect(textOf(result)).toContain("Hello, Ada")
  })

  test("receives the server's name and its tools", async () => {
    const info = { name: "shop", version: "3.1.0", title: "The shop" }
    await using server = toMCP(fixture().registry, info)
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, era)

    expect(client.getServerVersion()).toMatchObject(info)
    expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true } })
    expect(client.getInstructions()).toBe("Operations by namespace: demo (8).")
  })

  test("reads the instructions that were written for it", async () => {
    await using server = toMCP(fixture().registry, { instructions: "Be kind." })
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, era)

    expect(client.getInstructions()).toBe("Be kind.")
  })

  test("hears that a tool is unknown in the same words as that it is not allowed", async () => {
    await using server = toMCP(fixture().registry)
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, era)

    for (const name of ["demo_nothing", "demo_secret"]) {
      const error = await rejection(client.callTool({ name, arguments: {} }))
      expect(error).toMatchObject({ code: -32602 })
      expect(String(error)).toContain(`Unknown tool: ${name}`)
    }
  })

  test("gets failures of handlers as results, without their insides", async () => {
    await using server = toMCP(fixture().registry, { logger: silentLogger })
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, era)

    const result = await client.callTool({ name: "demo_boom", arguments: {} })
    expect(result.isError).toBe(true)
    expect(textOf(result)).not.toContain("    at ")
  })

  test("hears progress that grows, in order, before the result", async () => {
    await using server = toMCP(fixture().registry)
    await using listening = await server.listen({ port: 0 })
    const reported: unknown[] = []
    await using client = await connect(listening.url, era)

    await client.callTool(
      { name: "demo_steps", arguments: {} },
      { onprogress: ({ progress }) => reported.push(progress) },
    )
    expect(reported).toEqual([0, 50, 100])
  })

  test("ends the call at the server when it cancels", async () => {
    const { registry, seen } = fixture()
    await using server = toMCP(registry)
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, era)

    const controller = new AbortController()
    const call = client.callTool(
      { name: "demo_wait", arguments: {} },
      { signal: controller.signal, onprogress: () => controller.abort(new Error("enough")) },
    )
    await expect(call).rejects.toThrow("enough")
    await until(() => seen.aborted.length === 1)
    // The connection has survived it.
    const result = await client.callTool({ name: "demo_greet", arguments: { name: "Ada" } })
    expect(result.isError).toBeUndefined()
  })

  test("ends the call at the server when it disconnects", async () => {
    const { registry, seen } = fixture()
    await using server = toMCP(registry)
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, era)

    const call = client.callTool(
      { name: "demo_wait", arguments: {} },
      { onprogress: () => void client.close() },
    )
    await rejection(call)
    await until(() => seen.aborted.length === 1)
    expect(seen.runs).toBe(1)
  })

  test("hears once of several changes of the registry", async () => {
    const { registry } = fixture()
    await using server = toMCP(registry)
    let hasStream = era === "modern"
    const http = createServer((request, response) => {
      void server.node(request, response)
      // Legacy clients open a stream for notices on their own, after they have connected.
      if (request.method === "GET")
        void until(() => response.headersSent).then(() => (hasStream = true))
    })
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
    let changes = 0
    await using client = await connect(
      `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
      era,
      {
        prepare: (made) =>
          made.setNotificationHandler("notifications/tools/list_changed", () => void changes++),
      },
    )
    if (era === "modern") await client.listen({ toolsListChanged: true })
    await until(() => hasStream)

    registry.registerAll([operation("demo.one", { handler: () => 1 })])
    registry.registerAll([operation("demo.two", { handler: () => 2 })])
    registry.unregister("demo.one")
    await until(() => changes > 0)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain("demo_two")
    expect(changes).toBe(1)
    await client.close()
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })

  test("sees the log of a handler from the level that it asks for, without secrets", async () => {
    const { registry } = fixture()
    const own: string[] = []
    const note = (message: string): void => void own.push(message)
    const logger: Logger = { debug: note, info: note, warn: note, error: note }
    await using server = toMCP(registry, { logger })
    await using listening = await server.listen({ port: 0 })
    const lines: { level: string; data: unknown; logger?: string | undefined }[] = []
    await using client = await connect(listening.url, era, {
      prepare: (made) =>
        made.setNotificationHandler(
          "notifications/message",
          ({ params }) => void lines.push(params),
        ),
    })

    await client.callTool({ name: "demo_chat", arguments: {} })
    expect(lines).toEqual([])
    if (era === "legacy") {
      await client.setLoggingLevel("info")
      await client.callTool({ name: "demo_chat", arguments: {} })
    } else {
      const _meta = { "io.modelcontextprotocol/logLevel": "info" }
      await client.callTool({ name: "demo_chat", arguments: {}, _meta })
    }
    await until(() => lines.length === 2)
    expect(lines.map(({ level }) => level)).toEqual(["info", "error"])
    expect(lines[0]?.data).toEqual({ message: "hello", password: "***", step: 1 })
    expect(own).toContain("quiet")
  })

  test("shares nothing with other clients", async () => {
    const { registry } = fixture()
    await using server = toMCP(registry)
    await using listening = await server.listen({ port: 0 })
    const clients = await Promise.all(Array.from({ length: 8 }, () => connect(listening.url, era)))

    const names = Array.from({ length: 80 }, (_, at) => `person ${at}`)
    const texts = await Promise.all(
      names.map(async (name, at) => {
        const client = clients[at % clients.length] as Client
        const result = await client.callTool({ name: "demo_greet", arguments: { name } })
        return (result.structuredContent as { text: string }).text
      }),
    )
    expect(texts).toEqual(names.map((name) => `Hello, ${name}`))
    await Promise.all(clients.map((client) => client.close()))
  })
})

describe("serving over HTTP", () => {
  test("waits for running calls on close, then lets go", async () => {
    let finish: (value: string) => void = () => undefined
    let isRunning = false
    const registry = quietRegistry([
      operation("demo.slow", {
        handler: () => {
          isRunning = true
          return new Promise<string>((resolve) => (finish = resolve))
        },
      }),
    ])
    const server = toMCP(registry)
    const listening = await server.listen({ port: 0 })
    const call = fetch(
      listening.url,
      rawRequest("tools/call", { params: { name: "demo_slow", arguments: {} } }),
    )
    await until(() => isRunning)
    const closing = server.close()
    const late = await fetch(listening.url, rawRequest("tools/list"))
    expect(late.status).toBe(503)
    finish("finished")
    expect(textOf((await answerOf(await call)).result)).toBe("finished")
    await closing
    await expect(fetch(listening.url)).rejects.toThrow("fetch failed")
  })

  test("ends calls that do not finish in time on close", async () => {
    const { registry, seen } = fixture()
    const server = toMCP(registry, { drainMs: 20 })
    const listening = await server.listen({ port: 0 })
    const call = fetch(
      listening.url,
      rawRequest("tools/call", { params: { name: "demo_wait", arguments: {} } }),
    ).catch(() => undefined)
    await until(() => seen.runs === 1)
    await server.close()
    await call
    expect(seen.aborted).toHaveLength(1)
  })

  test("closes twice, and without ever having been used", async () => {
    const server = toMCP(fixture().registry)
    await Promise.all([server.close(), server.close()])
    const late = await server.fetch(new Request("http://localhost/", rawRequest("tools/list")))
    expect(late.status).toBe(503)
  })

  test("is a listener of a server of Node, also behind a body parser", async () => {
    await using server = toMCP(fixture().registry)
    for (const parse of [false, true]) {
      const http = createServer((request, response) => {
        if (!parse) {
          void server.node(request, response)
          return
        }
        let text = ""
        request.on("data", (chunk) => (text += String(chunk)))
        request.on("end", () => {
          const parsed = Object.assign(request, { body: JSON.parse(text) as unknown })
          void server.node(parsed, response)
        })
      })
      await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
      const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/anywhere`
      const { result } = await answerOf(await fetch(url, rawRequest("tools/list")))
      expect(result?.["tools"]).toHaveLength(8)
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    }
  })

  test("answers web requests without a server of Node", async () => {
    await using server = toMCP(fixture().registry)
    const call = rawRequest("tools/call", {
      params: { name: "demo_greet", arguments: { name: "Ada" } },
    })
    const response = await server.fetch(new Request("http://localhost/mcp", call))
    expect((await answerOf(response)).result?.["structuredContent"]).toEqual({
      text: "Hello, Ada",
    })
  })

  test("gives list results their time to live, and equal bytes for equal lists", async () => {
    await using server = toMCP(fixture().registry, { ttlMs: 1234 })
    const list = async (): Promise<string> =>
      await (await server.fetch(new Request("http://localhost/", rawRequest("tools/list")))).text()
    const text = await list()
    expect(JSON.parse(text)).toMatchObject({
      result: { resultType: "complete", ttlMs: 1234, cacheScope: "private" },
    })
    expect(await list()).toBe(text)
  })

  test("refuses an invalid cursor", async () => {
    await using server = toMCP(fixture().registry)
    for (const cursor of ["garbage", 7]) {
      const request = rawRequest("tools/list", { params: { cursor } })
      const { error } = await answerOf(
        await server.fetch(new Request("http://localhost/", request)),
      )
      expect(error?.code).toBe(-32602)
    }
  })

  test.each([
    ["no name", { arguments: {} }],
    ["a name that is no text", { name: 7 }],
    ["arguments that are a list", { name: "demo_greet", arguments: [] }],
    ["arguments that are a text", { name: "demo_greet", arguments: "{}" }],
  ])("refuses a call with %s", async (_, params) => {
    await using server = toMCP(fixture().registry)
    const headers = { "Mcp-Name": "demo_greet" }
    const request = rawRequest("tools/call", { params, headers })
    const { error, id } = await answerOf(
      await server.fetch(new Request("http://localhost/", request)),
    )
    expect(error?.code).toBe(-32602)
    expect(id).toBe(1)
  })

  test("passes on traces, and nothing else of a request", async () => {
    const { registry, seen } = fixture()
    await using server = toMCP(registry)
    const meta = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      baggage: "a=b",
      progressToken: 1,
      private: "x",
    }
    const headers = { Authorization: "Bearer caller-token", Cookie: "session=1" }
    const params = { name: "demo_look", arguments: {} }
    const request = rawRequest("tools/call", { params, meta, headers })
    await server.fetch(new Request("http://localhost/", request))
    expect(seen.contexts[0]?.metadata).toEqual({
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      baggage: "a=b",
    })
    expect(JSON.stringify(seen.contexts[0]?.metadata)).not.toContain("caller-token")
  })

  test("keeps a quiet call alive, and answers it on the same stream", async () => {
    let finish: (value: string) => void = () => undefined
    const registry = quietRegistry([
      operation("demo.slow", {
        handler: () => new Promise<string>((resolve) => (finish = resolve)),
      }),
    ])
    await using server = toMCP(registry, { keepAliveMs: 10 })
    const params = { name: "demo_slow", arguments: {} }
    const response = await server.fetch(
      new Request("http://localhost/", rawRequest("tools/call", { params })),
    )
    expect(response.headers.get("content-type")).toBe("text/event-stream")
    expect(response.headers.get("x-accel-buffering")).toBe("no")
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const first = await reader.read()
    expect(new TextDecoder().decode(first.value)).toBe(": keepalive\n\n")
    finish("finished")
    let rest = ""
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      rest += new TextDecoder().decode(value)
    }
    expect(rest).toContain('"finished"')
  })

  test("ends a quiet call whose client leaves the stream", async () => {
    const { registry, seen } = fixture()
    await using server = toMCP(registry, { keepAliveMs: 10 })
    const params = { name: "demo_wait", arguments: {} }
    const response = await server.fetch(
      new Request("http://localhost/", rawRequest("tools/call", { params })),
    )
    await response.body?.cancel()
    await until(() => seen.aborted.length === 1)
    expect(seen.runs).toBe(1)
  })

  test("says what it costs to show the tools", () => {
    const server = toMCP(fixture().registry)
    const all = server.cost({ id: "ada", scopes: ["secret"] })
    expect(all.all.tools).toBe(9)
    expect(server.cost().all.tools).toBe(8)
  })

  test("refuses what is no registry", () => {
    expect(thrown(() => toMCP({} as never))).toBeInstanceOf(TypeError)
  })

  test("serves legacy clients without sessions with sessions: false", async () => {
    await using server = toMCP(fixture().registry, { sessions: false })
    await using listening = await server.listen({ port: 0 })
    const opened = await fetch(listening.url, initialize())
    expect(opened.headers.get("mcp-session-id")).toBeNull()
    expect(await messagesOf(opened)).toMatchObject([
      { result: { serverInfo: { name: "operations" } } },
    ])
    expect((await fetch(listening.url)).status).toBe(405)
    expect((await fetch(listening.url, { method: "DELETE" })).status).toBe(405)
    await using client = await connect(listening.url, "legacy")
    const result = await client.callTool({ name: "demo_greet", arguments: { name: "Ada" } })
    expect(result.structuredContent).toEqual({ text: "Hello, Ada" })
  })
})
