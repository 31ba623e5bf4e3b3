import { get } from "node:http"
import type { IncomingHttpHeaders, RequestOptions } from "node:http"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { CallError } from "../../src/index.ts"
import { serveHTTP } from "../../src/node.ts"
import { createRegistry } from "../../src/engine/registry.ts"
import type { AnyRegistry } from "../../src/engine/registry.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { serveWebSocket } from "../../src/websocket.ts"
import type { Authenticate } from "../../src/websocket.ts"
import { LogLines } from "./http/guarded.ts"
import { rawRequest } from "./mcp/support/clients.ts"
import { am } from "./who/operations.ts"

const TOKEN = "sekret-token-123456"
const bearer = { authorization: `Bearer ${TOKEN}` }

interface Reply {
  readonly status: number
  readonly headers: Headers | IncomingHttpHeaders
  readonly body: string
}

const log = new LogLines()
const cleanups: (() => unknown)[] = []
let thrown: unknown
let isLate = false
const authenticate: Authenticate = () => {
  if (isLate) return Promise.reject(thrown)
  throw thrown
}

const SURFACES: Record<string, () => Promise<Reply>> = {}

beforeAll(async () => {
  const registry = createRegistry([am]) as unknown as AnyRegistry
  const options = { authenticate, logger: log }
  const mounted = toMCP(registry, { logger: log })
  const served = await serveHTTP(registry, { ...options, port: 0, mcp: mounted })
  const sockets = await serveWebSocket(registry, { ...options, port: 0 })
  const alone = toMCP(registry, options)
  cleanups.push(
    () => served.close(),
    () => sockets.close(),
    () => alone.close(),
  )
  const json = { ...bearer, "content-type": "application/json" }
  const call = rawRequest("tools/call", {
    params: { name: "who_am", arguments: {} },
    headers: bearer,
  })
  SURFACES["REST"] = async () =>
    await replyOf(await fetch(`${served.url}/api/who/am`, { headers: json }))
  SURFACES["batch"] = async () =>
    await replyOf(await fetch(`${served.url}/batch`, { method: "POST", headers: json, body: "[]" }))
  SURFACES["mounted MCP"] = async () => await replyOf(await fetch(`${served.url}/mcp`, call))
  SURFACES["MCP"] = async () =>
    await replyOf(await alone.fetch(new Request("http://localhost/mcp", call)))
  SURFACES["mounted WebSocket"] = () => upgrade(`${served.url}/ws`)
  SURFACES["WebSocket"] = () => upgrade((sockets.url as string).replace(/^ws/, "http"))
})

afterAll(async () => {
  for (const cleanup of cleanups) await cleanup()
})

const say = `the key server refused ${TOKEN}`

/** What `authenticate` throws, the status, and the seconds of `Retry-After`. */
const ROWS: readonly (readonly [string, unknown, number, string?])[] = [
  ["UNAVAILABLE", new CallError("UNAVAILABLE", say, { retryAfterMs: 7000 }), 503, "7"],
  ["UNAVAILABLE without a time", new CallError("UNAVAILABLE", say), 503, "5"],
  ["RATE_LIMITED", new CallError("RATE_LIMITED", say, { retryAfterMs: 7000 }), 429, "7"],
  ["OVERLOADED", new CallError("OVERLOADED", say, { retryAfterMs: 7000 }), 503, "7"],
  ["UNAUTHENTICATED", new CallError("UNAUTHENTICATED", say), 401],
  ["EXECUTION_ERROR", new CallError("EXECUTION_ERROR", say), 401],
  ["an error that is no CallError", new Error(say), 401],
]

describe.each([
  ["throws", false],
  ["rejects", true],
])("authenticate that %s", (_, late) => {
  test.each(ROWS)("%s has one status on every surface", async (_name, error, status, seconds) => {
    for (const [name, ask] of Object.entries(SURFACES)) {
      thrown = error
      isLate = late
      log.lines.length = 0
      const { status: got, headers, body } = await ask()
      const header = (key: string): unknown =>
        headers instanceof Headers ? (headers.get(key) ?? undefined) : headers[key]
      expect([name, got, header("retry-after")]).toEqual([name, status, seconds])
      expect(status === 401 || header("www-authenticate") === undefined, name).toBe(true)
      expect(body, name).not.toContain(TOKEN)
      expect(log.text, name).not.toContain(TOKEN)
      expect(log.text, name).toContain("the key server refused ***")
    }
  })
})

async function replyOf(response: Response): Promise<Reply> {
  return { status: response.status, headers: response.headers, body: await response.text() }
}

/** Asks for a WebSocket and reads the refusal, which clients of browsers cannot see. */
function upgrade(url: string): Promise<Reply> {
  const options: RequestOptions = {
    headers: {
      ...bearer,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    },
  }
  return new Promise((resolve, reject) => {
    const request = get(url, options, (response) => {
      let body = ""
      response.on("data", (chunk) => (body += String(chunk)))
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      )
    })
    request.on("upgrade", () => reject(new Error("The upgrade was accepted.")))
    request.on("error", reject)
  })
}
