import { request as httpRequest } from "node:http"
import { describe, expect, test } from "vitest"
import { toMCP } from "../../../src/to-mcp.ts"
import type { MCPServerOptions } from "../../../src/to-mcp.ts"
import { rejection } from "../../support/operations.ts"
import { answerOf, initialize, legacyRequest, rawRequest } from "./support/clients.ts"
import type { RawRequest } from "./support/clients.ts"
import { fixture } from "./support/fixture.ts"

/** Sends a request with headers that `fetch` keeps to itself. */
async function send(
  url: string,
  init: RequestInit & { headers?: Record<string, string> },
): Promise<number> {
  return await new Promise((resolve, reject) => {
    const { method = "GET", headers = {}, body } = init
    const sent = httpRequest(url, { method, headers, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on("error", reject)
    sent.end(body)
  })
}

async function statusOf(
  headers: Record<string, string>,
  options: MCPServerOptions = {},
): Promise<number> {
  await using server = toMCP(fixture().registry, options)
  await using listening = await server.listen({ port: 0 })
  const request = rawRequest("tools/list", { headers })
  return await send(listening.url, request)
}

describe("the guard", () => {
  test.each(["localhost", "127.0.0.1", "[::1]", "LOCALHOST:99"])(
    "lets host %s in",
    async (host) => {
      expect(await statusOf({ Host: host })).toBe(200)
    },
  )

  test.each(["evil.example.com", "localhost.evil.example.com", "127.0.0.1.nip.io"])(
    "refuses host %j",
    async (host) => {
      expect(await statusOf({ Host: host })).toBe(403)
    },
  )

  test("lets in hosts that were allowed", async () => {
    const options = { allowedHosts: ["mcp.example.com"] }
    expect(await statusOf({ Host: "mcp.example.com" }, options)).toBe(200)
    expect(await statusOf({ Host: "other.example.com" }, options)).toBe(403)
  })

  test.each(["null", "http://evil.example.com", "https://localhost.evil.com", "garbage"])(
    "refuses origin %s",
    async (origin) => {
      expect(await statusOf({ Origin: origin })).toBe(403)
    },
  )

  test("lets in origins that were allowed, and the same host", async () => {
    const options = { allowedOrigins: ["https://app.example.com"] }
    expect(await statusOf({ Origin: "https://app.example.com" }, options)).toBe(200)
    expect(await statusOf({ Origin: "http://localhost:5", Host: "localhost:5" })).toBe(200)
  })

  test("has no headers for other origins, and no answer to their questions", async () => {
    await using server = toMCP(fixture().registry)
    await using listening = await server.listen({ port: 0 })
    const preflight = await fetch(listening.url, { method: "OPTIONS" })
    expect(preflight.status).toBe(405)
    const answered = await fetch(listening.url, rawRequest("tools/list"))
    expect(answered.headers.get("access-control-allow-origin")).toBeNull()
  })

  test("holds for web requests as well, unless someone else has checked who calls", async () => {
    await using server = toMCP(fixture().registry)
    const request = (): Request => new Request("http://evil.example.com/", rawRequest("tools/list"))
    expect((await server.fetch(request())).status).toBe(403)
    const identity = { id: "ada", scopes: [] }
    expect((await server.fetch(request(), { identity })).status).toBe(200)
  })

  test.each(["PUT", "PATCH", "OPTIONS"])("allows no %s", async (method) => {
    await using server = toMCP(fixture().registry)
    await using listening = await server.listen({ port: 0 })
    const response = await fetch(listening.url, { method })
    expect(response.status).toBe(405)
    expect(response.headers.get("allow")).toBe("GET, POST, DELETE")
  })

  test.each(["text/plain", "application/jsonx", "multipart/form-data", ""])(
    "takes no body of type %j",
    async (type) => {
      expect(await statusOf({ "Content-Type": type })).toBe(415)
    },
  )

  test("takes JSON with parameters", async () => {
    expect(await statusOf({ "Content-Type": "application/json; charset=utf-8" })).toBe(200)
  })

  test.each([
    ["application/json", 406],
    ["text/event-stream", 406],
    ["text/html", 406],
    ["application/json, text/event-stream;q=0", 406],
    ["*/*", 200],
    ["application/*, text/*;q=0.5", 200],
  ])("answers to clients that accept %s with %i", async (accept, status) => {
    expect(await statusOf({ Accept: accept })).toBe(status)
  })

  test("is as lenient with legacy clients", async () => {
    await using server = toMCP(fixture().registry)
    const request = initialize({ Accept: "*/*" })
    expect((await server.fetch(new Request("http://localhost/", request))).status).toBe(200)
  })

  test("refuses bodies that are too large, announced or not", async () => {
    await using server = toMCP(fixture().registry, { maxBodyBytes: 1000 })
    await using listening = await server.listen({ port: 0 })
    const long = { name: "x".repeat(2000) }
    const request = rawRequest("tools/call", { params: { name: "demo_greet", arguments: long } })
    expect((await fetch(listening.url, request)).status).toBe(413)
    expect((await fetch(listening.url, unannounced(request))).status).toBe(413)
    expect(
      (await server.fetch(new Request("http://localhost/", unannounced(request)))).status,
    ).toBe(413)
  })

  test.each(["{", "", "nonsense", "[1,"])("answers %j with a parse error", async (body) => {
    await using server = toMCP(fixture().registry)
    const request = { ...rawRequest("tools/list"), body }
    const response = await server.fetch(new Request("http://localhost/", request))
    expect(response.status).toBe(400)
    expect((await answerOf(response)).error?.code).toBe(-32700)
  })

  test.each(["[]", "null", "7", '"text"', "{}", '{"jsonrpc":"1.0","id":1,"method":"ping"}'])(
    "answers %s with an error",
    async (body) => {
      await using server = toMCP(fixture().registry)
      const request = { ...rawRequest("tools/list"), body }
      const response = await server.fetch(new Request("http://localhost/", request))
      expect(response.status).toBe(400)
    },
  )

  test("answers methods that there are not with 404", async () => {
    await using server = toMCP(fixture().registry)
    for (const method of ["ping", "logging/setLevel", "unknown/method", "tasks/list"]) {
      const request = rawRequest(method, { params: { level: "info" } })
      const response = await server.fetch(new Request("http://localhost/", request))
      expect(response.status).toBe(404)
      expect((await answerOf(response)).error?.code).toBe(-32601)
    }
  })

  test("answers revisions that it does not speak with those that it does", async () => {
    await using server = toMCP(fixture().registry)
    const version = "2099-01-01"
    const request = rawRequest("tools/list", {
      headers: { "MCP-Protocol-Version": version },
      meta: { "io.modelcontextprotocol/protocolVersion": version },
    })
    const response = await server.fetch(new Request("http://localhost/", request))
    expect(response.status).toBe(400)
    expect((await answerOf(response)).error).toMatchObject({
      code: -32022,
      data: { supported: ["2026-07-28"], requested: version },
    })
  })

  test("listens on other addresses only with authentication", async () => {
    await using server = toMCP(fixture().registry)
    const error = await rejection(server.listen({ port: 0, host: "0.0.0.0" }))
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toContain("authenticate")
    await using checked = toMCP(fixture().registry, { authenticate: () => null })
    await using listening = await checked.listen({ port: 0, host: "0.0.0.0" })
    expect(listening.url).toContain("0.0.0.0")
  })

  test("says that a port is taken", async () => {
    await using server = toMCP(fixture().registry)
    await using listening = await server.listen({ port: 0 })
    const port = Number(new URL(listening.url).port)
    expect(String(await rejection(server.listen({ port })))).toContain("Cannot listen on")
  })

  test("answers under its own path only", async () => {
    await using server = toMCP(fixture().registry)
    await using listening = await server.listen({ port: 0, path: "/tools" })
    expect(new URL(listening.url).pathname).toBe("/tools")
    expect((await fetch(new URL("/other", listening.url))).status).toBe(404)
    expect((await fetch(listening.url, rawRequest("tools/list"))).status).toBe(200)
  })
})

describe("headers that repeat the body", () => {
  const call = (input: Record<string, unknown>, headers: Record<string, string>): Request =>
    new Request(
      "http://localhost/",
      rawRequest("tools/call", { params: { name: "demo_region", arguments: input }, headers }),
    )

  test.each([
    ["a text", { region: "eu" }, { "Mcp-Param-Region": "eu" }],
    ["a name in other case", { region: "eu" }, { "mcp-param-region": "eu" }],
    [
      "a number",
      { region: "eu", size: 42 },
      { "Mcp-Param-Region": "eu", "Mcp-Param-Size": "42.0" },
    ],
    [
      "a nested value",
      { region: "eu", nested: { on: true } },
      { "Mcp-Param-Region": "eu", "Mcp-Param-On": "true" },
    ],
    ["Base64", { region: "zürich" }, { "Mcp-Param-Region": "=?base64?esO8cmljaA==?=" }],
    ["a header for nothing", { region: "eu" }, { "Mcp-Param-Region": "eu", "Mcp-Param-Size": "1" }],
  ])("agree: %s", async (_, input, headers) => {
    await using server = toMCP(fixture().registry)
    const response = await server.fetch(call(input, headers))
    expect(response.status).toBe(200)
    expect((await answerOf(response)).result?.["isError"]).toBeUndefined()
  })

  test.each([
    ["missing", { region: "eu" }, {}],
    ["different", { region: "eu" }, { "Mcp-Param-Region": "us" }],
    ["different case", { region: "eu" }, { "Mcp-Param-Region": "EU" }],
    [
      "another number",
      { region: "eu", size: 42 },
      { "Mcp-Param-Region": "eu", "Mcp-Param-Size": "43" },
    ],
    ["broken Base64", { region: "eu" }, { "Mcp-Param-Region": "=?base64?!!?=" }],
    ["Base64 of no text", { region: "eu" }, { "Mcp-Param-Region": "=?base64?/w==?=" }],
    ["another method", { region: "eu" }, { "Mcp-Method": "tools/list" }],
    ["another name", { region: "eu" }, { "Mcp-Name": "demo_greet", "Mcp-Param-Region": "eu" }],
  ])("disagree: %s", async (_, input, headers) => {
    await using server = toMCP(fixture().registry)
    const response = await server.fetch(call(input, headers))
    expect(response.status).toBe(400)
    const { error, id } = await answerOf(response)
    expect(error?.code).toBe(-32020)
    expect(id).toBe(1)
  })

  test("mean nothing to legacy clients", async () => {
    await using server = toMCP(fixture().registry)
    const opened = await server.fetch(new Request("http://localhost/", initialize()))
    const session = opened.headers.get("mcp-session-id") ?? ""
    const params = { name: "demo_region", arguments: { region: "eu" } }
    const request = legacyRequest("tools/call", params, { "Mcp-Session-Id": session })
    const response = await server.fetch(new Request("http://localhost/", request))
    expect((await answerOf(response)).result?.["isError"]).toBeUndefined()
  })
})

/** The same request with a body that does not say how long it is. */
function unannounced(request: RawRequest): RequestInit {
  const body = new Blob([request.body]).stream()
  return { ...request, body, duplex: "half" } as RequestInit
}
