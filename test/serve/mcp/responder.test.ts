import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import type { OperationContext } from "../../../src/index.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import type { MCPServer } from "../../../src/to-mcp.ts"
import { serveHTTP } from "../../../src/node.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { until } from "../../http-client/server.ts"
import { legacyRequest, messagesOf, rawRequest } from "./support/clients.ts"
import type { RawOptions, RawRequest } from "./support/clients.ts"
import { fixture } from "./support/fixture.ts"

const CLIENT = "io.modelcontextprotocol/clientInfo"
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
/** Changes nothing. */
const ICONS = { [CLIENT]: { name: "raw", version: "1.0.0", icons: [] } }

const ask = operation("demo.ask", {
  inputSchema: Type.Object({}),
  handler: async (_input: never, context: OperationContext) =>
    await context.requestInput({ type: "form", message: "Sure?", schema: { type: "object" } }),
})

function serverOf(): MCPServer {
  const { registry } = fixture()
  registry.registerAll([ask])
  return toMCP(registry, { name: "shop", version: "3.1.0", title: "The shop" })
}

async function answerTo(server: MCPServer, options: RawOptions) {
  const request = new Request("http://localhost/mcp", rawRequest("tools/call", options))
  return await read(await server.fetch(request))
}

async function read(response: Response) {
  const text = await response.text()
  return { status: response.status, headers: Object.fromEntries(response.headers), text }
}

/** Headers of Node's about the connection and the length of the text. */
const FRAMING = ["connection", "content-length", "date", "keep-alive", "transfer-encoding"]

/** Ways to a server: a web request, a request of Node, and one through a server that it is mounted in. */
async function waysTo(server: MCPServer) {
  const http = await serveHTTP(quietRegistry(), { port: 0, mounts: { "/mcp": server } })
  const listening = await server.listen({ port: 0 })
  const over = (url: string) => async (options: RawOptions) => {
    const answer = await read(await fetch(url, rawRequest("tools/call", options)))
    for (const name of FRAMING) delete answer.headers[name]
    return answer
  }
  return {
    ways: [
      (options: RawOptions) => answerTo(server, options),
      over(listening.url),
      over(`${http.url}/mcp`),
    ],
    [Symbol.asyncDispose]: () => http.close(),
  }
}

describe("a plain call of a modern client", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["a result", { name: "demo_greet", arguments: { name: "Ada" } }, {}],
    ["a result of no arguments", { name: "demo_look" }, {}],
    ["an invalid input", { name: "demo_greet", arguments: { name: 7 } }, {}],
    ["an unknown tool", { name: "demo_nothing", arguments: {} }, {}],
    ["a tool that is not allowed", { name: "demo_secret", arguments: {} }, {}],
    ["a question that its client cannot answer", { name: "demo_ask", arguments: {} }, {}],
    ["progress that nobody wants", { name: "demo_steps", arguments: {} }, {}],
    ["log messages that nobody wants", { name: "demo_chat", arguments: {} }, {}],
    ["a missing header of an argument", { name: "demo_region", arguments: { region: "eu" } }, {}],
    ["an empty name", { name: "", arguments: {} }, {}],
    [
      "a trace",
      { name: "demo_greet", arguments: { name: "Ada" } },
      { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" },
    ],
  ])("is answered in the same way wherever it comes from: %s", async (_what, params, meta) => {
    await using server = serverOf()
    await using served = await waysTo(server)
    const [first] = served.ways
    const expected = withoutIds((await first?.({ params, meta }))?.text ?? "")
    for (const way of served.ways) {
      const plain = await way({ params, meta })
      const other = await way({ params, meta: { ...meta, ...ICONS } })

      expect(plain.status).toBe(other.status)
      expect(plain.headers).toEqual(other.headers)
      expect(withoutIds(plain.text)).toEqual(withoutIds(other.text))
      expect(withoutIds(plain.text)).toEqual(expected)
    }
  })

  test("is answered with the questions of its handler", async () => {
    await using server = serverOf()
    const params = { name: "demo_ask", arguments: {} }
    const meta = { [CAPABILITIES]: { elicitation: { form: {} } } }
    const plain = JSON.parse((await answerTo(server, { params, meta })).text)
    const other = JSON.parse((await answerTo(server, { params, meta: { ...meta, ...ICONS } })).text)

    expect(plain.result).toMatchObject({ resultType: "input_required" })
    expect({ ...plain.result, requestState: "" }).toEqual({ ...other.result, requestState: "" })
    const inputResponses = { input: { action: "accept", content: {} } }
    const { requestState } = plain.result
    const again = { ...params, inputResponses, requestState }
    const { text } = await answerTo(server, { params: again, meta })
    expect(JSON.parse(text).result).toMatchObject({ resultType: "complete" })
    expect(text).toContain("accept")
  })

  test("is aborted when its client leaves, and when the server closes", async () => {
    const { registry, seen } = fixture()
    const server = toMCP(registry, { drainMs: 0 })
    const leaving = new AbortController()
    const request = rawRequest("tools/call", { params: { name: "demo_wait", arguments: {} } })
    const calls = [leaving.signal, undefined].map((signal) =>
      server.fetch(new Request("http://localhost/mcp", { ...request, ...(signal && { signal }) })),
    )
    await until(() => seen.runs === 2)
    leaving.abort()
    await until(() => seen.aborted.length === 1)
    await server.close()
    expect(seen.aborted).toHaveLength(2)
    expect(await (await calls[1])?.clone().text()).toContain("the server was closed")
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([499, 200])
  })
})

describe("a call of a legacy client", () => {
  const CAPABLE = { elicitation: {}, sampling: {}, roots: {} }

  async function opened(server: MCPServer, capabilities: object): Promise<Record<string, string>> {
    const params = {
      protocolVersion: "2025-06-18",
      capabilities,
      clientInfo: { name: "raw", version: "1.0.0" },
    }
    const response = await send(server, legacyRequest("initialize", params))
    expect(response.headers.get("content-type")).toBe("application/json")
    const session = response.headers.get("mcp-session-id")
    return session === null ? {} : { "mcp-session-id": session }
  }

  const call = (name: string, headers: Record<string, string>, meta?: object): RawRequest =>
    legacyRequest("tools/call", { name, arguments: {}, ...(meta && { _meta: meta }) }, headers)

  test.each([
    ["in a session", {}, {}],
    ["without sessions", { sessions: false }, {}],
    ["of a client that can be asked", {}, CAPABLE],
  ] as const)("is answered with JSON if that is all: %s", async (_what, options, capabilities) => {
    const { registry } = fixture()
    await using server = toMCP(registry, options)
    const headers = await opened(server, capabilities)
    for (const name of ["demo_look", "demo_steps", "demo_chat"]) {
      const response = await send(server, call(name, headers))
      expect(response.headers.get("content-type")).toBe("application/json")
      expect(response.headers.get("mcp-session-id")).toBe(headers["mcp-session-id"] ?? null)
      expect(await response.json()).toMatchObject({ id: 1, result: { content: [{}] } })
    }
  })

  test.each([
    ["progress", "demo_steps"],
    ["log message", "demo_chat"],
  ])("becomes a stream with its first %s", async (_what, name) => {
    await using server = serverOf()
    const headers = await opened(server, CAPABLE)
    await send(server, legacyRequest("logging/setLevel", { level: "info" }, headers))
    const response = await send(server, call(name, headers, { progressToken: "p" }))
    expect(response.headers.get("content-type")).toBe("text/event-stream")
    const messages = await messagesOf(response)
    expect(messages.map(({ method }) => method).slice(0, -1)).not.toContain(undefined)
    expect(messages.at(-1)).toMatchObject({ id: 1, result: {} })
  })

  test("becomes a stream with its first question, which is answered once", async () => {
    await using server = serverOf()
    const headers = await opened(server, CAPABLE)
    const response = await send(server, call("demo_ask", headers))
    expect(response.headers.get("content-type")).toBe("text/event-stream")
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const asked = new TextDecoder().decode((await reader.read()).value)
    const { id, method } = JSON.parse(asked.slice(asked.indexOf("{"))) as Record<string, unknown>
    expect(method).toBe("elicitation/create")
    const reply = async (message: object): Promise<number> => {
      const body = JSON.stringify({ jsonrpc: "2.0", ...message })
      return (await send(server, { ...legacyRequest("", {}, headers), body })).status
    }
    // Answers to nothing change nothing.
    expect(await reply({ id: 999, result: { action: "accept" } })).toBe(202)
    expect(await reply({ error: { code: 1, message: "?" } })).toBe(202)
    expect(await reply({ id, result: { action: "decline" } })).toBe(202)
    expect(await reply({ id, result: { action: "accept" } })).toBe(202)
    let rest = ""
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      rest += new TextDecoder().decode(value)
    }
    expect(rest).toContain("decline")
    expect(rest.match(/^data: /gm)).toHaveLength(1)
  })

  test("a cancelled call has an empty response, also before it has begun", async () => {
    const { registry, seen } = fixture()
    await using server = toMCP(registry)
    const headers = await opened(server, {})
    const waiting = send(server, call("demo_wait", headers))
    await until(() => seen.runs === 1)
    const params = { requestId: 1, reason: "enough" }
    const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params })
    expect((await send(server, { ...legacyRequest("", {}, headers), body })).status).toBe(202)
    const response = await waiting
    expect([response.status, await response.text()]).toEqual([200, ""])
    expect(seen.aborted).toHaveLength(1)
  })

  test("a question is withdrawn when its call is cancelled or its time is over", async () => {
    const { registry } = fixture()
    registry.registerAll([ask])
    for (const inputTimeoutMs of [20, 60_000]) {
      await using server = toMCP(registry, { inputTimeoutMs })
      const headers = await opened(server, CAPABLE)
      const response = await send(server, call("demo_ask", headers))
      if (inputTimeoutMs > 1000) {
        const params = { requestId: 1 }
        const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params })
        await send(server, { ...legacyRequest("", {}, headers), body })
      }
      const [question, withdrawn] = await messagesOf(response)
      expect(withdrawn).toMatchObject({
        method: "notifications/cancelled",
        params: { requestId: question?.["id"] },
      })
    }
  })

  test("messages of a log that have no JSON are left out, and the call goes on", async () => {
    const circle: Record<string, unknown> = { big: 10n }
    circle["self"] = circle
    const odd = operation("demo.odd", {
      handler: (_input: never, context: OperationContext) => {
        context.log.error("odd", circle)
        return "went on"
      },
    })
    await using server = toMCP(quietRegistry([odd]))
    const headers = await opened(server, {})
    await send(server, legacyRequest("logging/setLevel", { level: "debug" }, headers))
    const response = await send(server, call("demo_odd", headers))
    expect(JSON.stringify(await messagesOf(response))).toContain("went on")
  })
})

async function send(server: MCPServer, request: RawRequest): Promise<Response> {
  return await server.fetch(new Request("http://localhost/mcp", request))
}

/** An answer without what differs between two calls. */
function withoutIds(text: string): unknown {
  return JSON.parse(text.replaceAll(/"requestId":"[^"]*"/g, '"requestId":""')) as unknown
}
