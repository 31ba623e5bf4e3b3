// Failures of imported APIs that their documents declare: the status that callers of the hub see.
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../src/from-openapi.ts"
import { createClient, createRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation, CallError } from "../../src/index.ts"
import { createHTTPTransport } from "../../src/http.ts"
import { serveHTTP } from "../../src/node.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { connect, textOf } from "./mcp/support/clients.ts"

/** The statuses of the API, and those that callers see. A refused credential is that of the server, not of the caller. */
const STATUSES = [
  [404, 404],
  [409, 409],
  [410, 410],
  [422, 422],
  [401, 500],
  [403, 500],
] as const

const api = createServer((request, response) => {
  const status = Number(request.url?.slice(1))
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify({ why: `because ${status}` }))
})

function documentOf(): string {
  const schema = { type: "object", properties: { why: { type: "string" } }, required: ["why"] }
  const failure = { description: "No.", content: { "application/json": { schema } } }
  const paths = STATUSES.map(([status]) => [
    `/${status}`,
    {
      post: {
        operationId: `fail${status}`,
        // Codes may be ranges.
        responses: { "200": { description: "ok" }, [status === 410 ? "4XX" : status]: failure },
      },
    },
  ])
  const info = { title: "Failing", version: "1" }
  return JSON.stringify({ openapi: "3.1.0", info, paths: Object.fromEntries(paths) as unknown })
}

let url = ""
let mcp = ""
const closers: (() => unknown)[] = []
beforeAll(async () => {
  api.listen(0, "127.0.0.1")
  await once(api, "listening")
  const baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
  const imported = FromOpenAPI(documentOf(), { namespace: "api", baseUrl })
  const registry = createRegistry(imported as readonly AnyOperation[], { logger: silentLogger })
  const served = await serveHTTP(registry, { port: 0, logger: silentLogger })
  url = served.url
  const tools = toMCP(registry, { logger: silentLogger, expose: { mode: "all" } })
  mcp = (await tools.listen({ port: 0 })).url
  closers.push(
    () => api.close(),
    () => served.close(),
    () => tools.close(),
  )
})
afterAll(async () => {
  for (const close of closers.toReversed()) await close()
})

interface Seen {
  readonly status: number | undefined
  readonly problem: unknown
}

const headers = { "content-type": "application/json" }
const post = async (path: string, body: string): Promise<Seen> => {
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body })
  return { status: response.status, problem: await response.json() }
}

const WAYS: Readonly<Record<string, (name: string) => Promise<Seen>>> = {
  REST: (name) => post(`/api/api/${name}`, "{}"),
  gateway: (name) => post(`/operations/api.${name}`, "{}"),
  batch: async (name) => {
    const { problem } = await post("/batch", JSON.stringify([{ id: `api.${name}`, input: {} }]))
    const [item] = (problem as { results: { problem: { status: number } }[] }).results
    return { status: item?.problem.status, problem: item }
  },
  MCP: async (name) => {
    await using client = await connect(mcp, "modern")
    const result = await client.callTool({ name: `api_${name}`, arguments: {} })
    return { status: undefined, problem: textOf(result) }
  },
  "HTTP client": async (name) => {
    await using client = createClient(createHTTPTransport(url))
    const error = await client.call(`api.${name}`, {}).catch((thrown: CallError) => thrown)
    return { status: undefined, problem: (error as CallError).toJSON() }
  },
}

describe.each(Object.entries(WAYS))(
  "a declared failure of an imported API over %s",
  (way, call) => {
    test.each(STATUSES)(
      "of status %i is %i for its caller, with its body",
      async (status, expected) => {
        const { status: seen, problem } = await call(`fail${status}`)
        expect(seen).toBe(["REST", "gateway", "batch"].includes(way) ? expected : undefined)
        expect(JSON.stringify(problem)).toContain(`because ${status}`)
      },
    )
  },
)
