import { request as httpRequest } from "node:http"
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import type { InputResponse, OperationContext } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import type { MCPServerOptions } from "../../../src/to-mcp.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { answerOf, initialize, legacyRequest, rawRequest } from "./support/clients.ts"
import type { RawRequest } from "./support/clients.ts"

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly path?: string
}

/** Sends what `fetch` would not. */
async function send(url: string, { method = "POST", headers = {}, body, path }: Sent) {
  return await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const options = { method, headers, agent: false, ...(path !== undefined && { path }) }
    const sent = httpRequest(url, options, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => (text += chunk))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on("error", reject)
    sent.end(body)
  })
}

/** A server whose one tool counts how often it ran. */
function counting(options: MCPServerOptions = {}) {
  let runs = 0
  const registry = quietRegistry([operation("demo.run", { handler: () => ++runs })])
  const server = toMCP(registry, { logger: silentLogger, ...options })
  return { server, runs: () => runs }
}

const CALL = rawRequest("tools/call", { params: { name: "demo_run", arguments: {} } })

describe("a page of somebody else", () => {
  const FROM: Record<string, Record<string, string>> = {
    "a name of its own for this machine": { Host: "evil.test" },
    "a name with the port": { Host: "evil.test:3000" },
    "a name that begins like ours": { Host: "localhost.evil.test" },
    "a name that ends like ours": { Host: "evil-localhost" },
    "a user in the name": { Host: "localhost@evil.test" },
    "another way to write addresses": { Host: "0.0.0.0" },
    "its origin": { Origin: "https://evil.test" },
    "its origin in capitals": { ORIGIN: "HTTPS://EVIL.TEST" },
    "a sandbox": { Origin: "null" },
    "both, which agree": { Host: "evil.test", Origin: "http://evil.test" },
    "an origin that begins like ours": { Origin: "http://127.0.0.1.evil.test" },
    "an origin with a user": { Origin: "http://127.0.0.1@evil.test" },
    "two origins": { Origin: "http://127.0.0.1, https://evil.test" },
    "forwarded names": { Host: "evil.test", "X-Forwarded-Host": "localhost" },
  }

  test.each(Object.keys(FROM))("runs nothing, by %s", async (way) => {
    const { server, runs } = counting()
    await using listening = await server.listen({ port: 0 })
    const own = FROM[way] ?? {}

    const answers = await Promise.all([
      send(listening.url, { ...CALL, headers: { ...CALL.headers, ...own } }),
      send(listening.url, { ...initialize(own) }),
      send(listening.url, { method: "GET", headers: { Accept: "text/event-stream", ...own } }),
      send(listening.url, { method: "DELETE", headers: own }),
      server.fetch(
        new Request("http://localhost/mcp", { ...CALL, headers: { ...CALL.headers, ...own } }),
      ),
    ])
    await server.close()

    for (const { status } of answers.slice(0, 4)) expect([400, 403]).toContain(status)
    expect(answers.at(-1)?.status).toBe(403)
    expect(runs()).toBe(0)
  })

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain; a=application/json",
    "application/json garbage",
    "application/json\ta",
    "application/jsonp",
    "application/json, text/plain",
    "",
  ])("runs nothing with a body of %j", async (type) => {
    const { server, runs } = counting()
    await using listening = await server.listen({ port: 0 })
    const { "Content-Type": _, ...rest } = CALL.headers
    const headers = { ...rest, ...(type !== "" && { "Content-Type": type }) }

    const answer = await send(listening.url, { ...CALL, headers })
    await server.close()

    expect(answer.status).toBe(415)
    expect(runs()).toBe(0)
  })

  test.each(["//mcp", "/mcp/", "/MCP", "/%6dcp", "/mcp;x", "/mcp%2f", "/x/../mcp", "/mcp/.."])(
    "finds no other way in by %s",
    async (path) => {
      const { server, runs } = counting({ authenticate: () => undefined })
      await using listening = await server.listen({ port: 0 })

      const { status } = await send(listening.url, { ...CALL, path })
      await server.close()

      expect([401, 404]).toContain(status)
      expect(runs()).toBe(0)
    },
  )
})

describe("headers that say something else than the body", () => {
  test.each([
    { "Mcp-Method": "tools/list" },
    { "Mcp-Name": "demo_other" },
    { "Mcp-Name": "demo_run, demo_other" },
    { "MCP-Protocol-Version": "2025-11-25" },
    { "MCP-Protocol-Version": "1999-01-01" },
  ])("run nothing: %j", async (own: Record<string, string>) => {
    const { server, runs } = counting({ sessions: false })
    await using listening = await server.listen({ port: 0 })

    const answer = await send(listening.url, {
      ...CALL,
      headers: { ...CALL.headers, ...own },
    })
    await server.close()

    expect(answer.status).toBe(400)
    expect(runs()).toBe(0)
  })
})

describe("a state that a client was given", () => {
  const KEY = "k".repeat(32)
  const capabilities = { elicitation: { form: {} } }
  const meta = { "io.modelcontextprotocol/clientCapabilities": capabilities }
  const ANSWER = { ok: { action: "accept", content: { yes: true } } }

  function asking(options: MCPServerOptions = {}) {
    const handler = async (_input: never, { requestInput }: OperationContext) => {
      const schema = Type.Object({ yes: Type.Boolean() })
      const first: InputResponse = await requestInput({ key: "ok", message: "Sure?", schema })
      await requestInput({ key: "again", message: "Really?", schema })
      return first.action
    }
    const inputSchema = Type.Object({ to: Type.String() })
    const registry = quietRegistry([
      operation("demo.pay", { inputSchema, handler }),
      operation("demo.tip", { inputSchema, handler }),
    ])
    const authenticate: MCPServerOptions["authenticate"] = ({ headers }) => {
      const id = String(headers["authorization"])
      return id === "" ? null : { id, scopes: [] }
    }
    return toMCP(registry, { logger: silentLogger, stateKey: KEY, authenticate, ...options })
  }

  async function round(
    server: ReturnType<typeof asking>,
    more: object,
    { tool = "demo_pay", to = "ada", who = "me" } = {},
  ) {
    const params = { name: tool, arguments: { to }, ...more }
    const request: RawRequest = rawRequest("tools/call", {
      params,
      meta,
      headers: { Authorization: who },
    })
    return await answerOf(await server.fetch(new Request("http://localhost/mcp", request)))
  }

  test("is good for nothing else, and for nobody else", async () => {
    await using server = asking()
    const first = await round(server, {})
    const requestState = String(first.result?.["requestState"])
    const good = { requestState, inputResponses: ANSWER }

    const second = await round(server, good)
    expect(Object.keys(second.result?.["inputRequests"] as object)).toEqual(["again"])
    const [version = "", body = "", mac = ""] = requestState.split(".")
    const payload = JSON.parse(Buffer.from(body, "base64url").toString()) as object
    const forged = Buffer.from(JSON.stringify({ ...payload, exp: Date.now() + 1e9 })).toString(
      "base64url",
    )
    const bad: Record<string, [object, object?]> = {
      "another tool": [good, { tool: "demo_tip" }],
      "another input": [good, { to: "eve" }],
      "another caller": [good, { who: "eve" }],
      "no caller": [good, { who: "" }],
      "a longer life": [{ ...good, requestState: `${version}.${forged}.${mac}` }],
      "no signature": [{ ...good, requestState: `${version}.${body}.` }],
      "half a signature": [{ ...good, requestState: `${version}.${body}.${mac.slice(0, 20)}` }],
      "another version": [{ ...good, requestState: `v0.${body}.${mac}` }],
      "more parts": [{ ...good, requestState: `${requestState}.${mac}` }],
      "a list": [{ ...good, requestState: [requestState] }],
      "a large one": [{ ...good, requestState: `v1.${"A".repeat(1_000_000)}.${mac}` }],
      "an empty one": [{ ...good, requestState: "" }],
    }

    for (const [why, [more, other]] of Object.entries(bad)) {
      const { error, result } = await round(server, more, other)
      expect({ why, code: error?.code, result }).toEqual({ why, code: -32602, result: undefined })
      expect(JSON.stringify(error)).not.toContain(KEY)
    }
  })

  test("expires, and does not say more then than otherwise", async () => {
    await using server = asking({ stateTtlMs: 1 })
    const first = await round(server, {})
    await new Promise((resolve) => setTimeout(resolve, 20))

    const late = await round(server, {
      requestState: first.result?.["requestState"],
      inputResponses: ANSWER,
    })
    const garbled = await round(server, { requestState: "v1.x.y", inputResponses: ANSWER })

    expect(late.error).toEqual(garbled.error)
    expect(late.error?.code).toBe(-32602)
  })

  test("is not needed to do harm: what is no answer is asked for again", async () => {
    await using server = asking()
    const evil = JSON.parse('{"__proto__":{"action":"accept"},"constructor":1}') as object
    for (const inputResponses of [
      evil,
      { ok: 7 },
      { ok: null },
      { ok: { action: "root" } },
      { ok: { action: "accept", content: [] } },
      [],
      "x",
    ]) {
      const { result, error } = await round(server, { inputResponses })
      const asked = Object.keys((result?.["inputRequests"] as object | undefined) ?? {})
      expect(asked.concat(String(error?.code ?? "no error"))).toEqual(
        error === undefined ? ["ok", "no error"] : ["-32602"],
      )
    }
  })
})

test("a legacy client cannot answer for a modern one, nor a batch hide a call", async () => {
  const { server, runs } = counting({ sessions: false })
  const call = JSON.parse(
    legacyRequest("tools/call", { name: "demo_run", arguments: {} }).body,
  ) as object
  const batch = JSON.stringify([call, { jsonrpc: "2.0", method: "notifications/x" }, call])
  const headers = { ...CALL.headers, "Mcp-Method": "ping" }

  const { status } = await server.fetch(
    new Request("http://localhost/mcp", { method: "POST", headers, body: batch }),
  )
  await server.close()

  expect(status).toBeGreaterThanOrEqual(400)
  expect(runs()).toBe(0)
})
