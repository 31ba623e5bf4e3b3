import { afterEach, describe, expect, test, vi } from "vitest"
import type { Identity } from "../../../src/index.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import type { MCPServer } from "../../../src/to-mcp.ts"
import { until } from "../../http-client/server.ts"
import { answerOf, initialize, legacyRequest } from "./support/clients.ts"
import { fixture } from "./support/fixture.ts"

afterEach(() => void vi.useRealTimers())

async function send(server: MCPServer, init: RequestInit, identity?: Identity): Promise<Response> {
  return await server.fetch(new Request("http://localhost/mcp", init), { identity })
}

async function open(server: MCPServer, identity?: Identity): Promise<string> {
  const response = await send(server, initialize(), identity)
  await response.text()
  const session = response.headers.get("mcp-session-id") ?? ""
  expect(session).toMatch(/^[\w-]{36}$/)
  return session
}

const list = (session: string): RequestInit =>
  legacyRequest("tools/list", {}, { "Mcp-Session-Id": session })

describe("sessions of legacy clients", () => {
  test("end when their client says so", async () => {
    await using server = toMCP(fixture().registry)
    const session = await open(server)
    expect((await send(server, list(session))).status).toBe(200)
    const headers = { "Mcp-Session-Id": session }
    expect((await send(server, { method: "DELETE", headers })).status).toBe(200)
    const late = await send(server, list(session))
    expect(late.status).toBe(404)
    expect((await answerOf(late)).error?.code).toBe(-32001)
  })

  test("are needed for everything but their start", async () => {
    await using server = toMCP(fixture().registry)
    expect((await send(server, legacyRequest("tools/list"))).status).toBe(400)
    expect((await send(server, list("made-up"))).status).toBe(404)
    const stream = { headers: { Accept: "text/event-stream" } }
    expect((await send(server, stream)).status).toBe(400)
  })

  test("are of use to their owner only", async () => {
    await using server = toMCP(fixture().registry)
    const ada = { id: "ada", scopes: [] }
    const session = await open(server, ada)
    expect((await send(server, list(session), { id: "bob", scopes: ["secret"] })).status).toBe(404)
    expect((await send(server, list(session))).status).toBe(404)
    const headers = { "Mcp-Session-Id": session }
    expect((await send(server, { method: "DELETE", headers })).status).toBe(404)
    expect((await send(server, list(session), ada)).status).toBe(200)
  })

  test("know their owner as they are now", async () => {
    await using server = toMCP(fixture().registry)
    const session = await open(server, { id: "ada", scopes: ["secret"] })
    const names = async (scopes: readonly string[]): Promise<string> =>
      JSON.stringify(await answerOf(await send(server, list(session), { id: "ada", scopes })))
    expect(await names(["secret"])).toContain("demo_secret")
    expect(await names([])).not.toContain("demo_secret")
  })

  test("a client with an old session id gets a new session", async () => {
    await using server = toMCP(fixture().registry)
    const old = await open(server)
    const response = await send(server, initialize({ "Mcp-Session-Id": old }))
    expect(response.status).toBe(200)
    expect(response.headers.get("mcp-session-id")).not.toBe(old)
  })

  test("an invalid initialize starts no session", async () => {
    await using server = toMCP(fixture().registry)
    const response = await send(server, legacyRequest("initialize", { nothing: true }))
    expect(response.headers.get("mcp-session-id")).toBeNull()
    expect(response.status).toBe(400)
  })

  test("make room for others, the longest unused first", async () => {
    await using server = toMCP(fixture().registry, { sessions: { max: 2 } })
    const [first, second] = [await open(server), await open(server)]
    await (await send(server, list(first))).text()
    const third = await open(server)
    expect((await send(server, list(second))).status).toBe(404)
    for (const session of [first, third]) {
      expect((await send(server, list(session))).status).toBe(200)
    }
  })

  test("do not make room while they are being answered", async () => {
    const { registry, seen } = fixture()
    await using server = toMCP(registry, { sessions: { max: 1 }, drainMs: 0 })
    const session = await open(server)
    const params = { name: "demo_wait", arguments: {} }
    const call = await send(
      server,
      legacyRequest("tools/call", params, { "Mcp-Session-Id": session }),
    )
    await until(() => seen.runs === 1)
    const refused = await send(server, initialize())
    expect(refused.status).toBe(503)
    expect(refused.headers.get("retry-after")).not.toBeNull()
    await call.body?.cancel()
    await until(() => seen.aborted.length === 1)
    await open(server)
  })

  test("end when they are not used", async () => {
    await using server = toMCP(fixture().registry, { sessions: { idleMs: 1000 } })
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] })
    const idle = await open(server)
    const used = await open(server)
    await vi.advanceTimersByTimeAsync(700)
    await (await send(server, list(used))).text()
    await vi.advanceTimersByTimeAsync(700)
    expect((await send(server, list(idle))).status).toBe(404)
    expect((await send(server, list(used))).status).toBe(200)
  })

  test("close the stream of a call that was cancelled", async () => {
    const { registry, seen } = fixture()
    await using server = toMCP(registry)
    const session = await open(server)
    const headers = { "Mcp-Session-Id": session }
    const params = { name: "demo_wait", arguments: {} }
    const call = await send(server, legacyRequest("tools/call", params, headers))
    await until(() => seen.runs === 1)
    const body = JSON.stringify({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 1, reason: "enough" },
    })
    const response = await send(server, { ...legacyRequest("", {}, headers), body })
    expect(response.status).toBe(202)
    // No answer, and the end.
    expect(await call.text()).not.toContain('"id":1')
    expect(seen.aborted).toHaveLength(1)
  })

  test("answer several requests of one body", async () => {
    await using server = toMCP(fixture().registry)
    const session = await open(server)
    const requests = ["a", "b"].map((name, id) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "demo_greet", arguments: { name } },
    }))
    const init = legacyRequest("", {}, { "Mcp-Session-Id": session })
    const response = await send(server, { ...init, body: JSON.stringify(requests) })
    const text = await response.text()
    expect(text).toContain("Hello, a")
    expect(text).toContain("Hello, b")
  })

  test("refuse a revision that they do not speak", async () => {
    await using server = toMCP(fixture().registry)
    const session = await open(server)
    const headers = { "Mcp-Session-Id": session, "MCP-Protocol-Version": "1999-01-01" }
    expect((await send(server, legacyRequest("tools/list", {}, headers))).status).toBe(400)
  })
})
