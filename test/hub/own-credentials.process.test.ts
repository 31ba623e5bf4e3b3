// A server that refuses the credential of a hub has not refused the caller of the hub.
import { onTestFinished, describe, expect, test } from "vitest"
import type { SourceConfig } from "../../src/config.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { createRegistry, defineOperation } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { serveHTTP } from "../../src/node.ts"
import { hashApiKey } from "../../src/to-http.ts"
import type { Authenticate } from "../../src/to-http.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { hubOf, sourceOf } from "./support.ts"

const KEY = "a-key-of-ada-0123456789"
const word = defineOperation({
  namespace: "far",
  name: "word",
  version: "1.0.0",
  type: "query",
  description: "Says a word",
  inputSchema: {},
  outputSchema: {},
  accessControl: { requiredScopes: ["far"] },
  handler: () => "word",
})

type Caller = Awaited<ReturnType<Authenticate>>

/** Serves the word over MCP or as another hub; `found` is whom the server takes the hub for. */
const UPSTREAMS: Record<string, (found: () => Caller) => Promise<SourceConfig>> = {
  "an MCP server": async (found) => {
    const mcp = toMCP(createRegistry([word]), {
      authenticate: found,
      expose: { mode: "all" },
      logger: silentLogger,
    })
    onTestFinished(() => mcp.close())
    const { url } = await mcp.listen({ port: 0 })
    return { mcp: url, headers: { Authorization: "Bearer of-the-hub" } }
  },
  "another hub": async (found) => {
    const options = { port: 0, authenticate: found, logger: silentLogger }
    const served = await serveHTTP(createRegistry([word]), options)
    onTestFinished(() => served.close())
    return { remote: served.url, token: "of-the-hub" }
  },
}

const IDENTITY = { id: "hub", scopes: ["far"] }

async function callOf(config: SourceConfig): Promise<{
  call: () => Promise<{ status: number; code?: string; details?: unknown }>
  lastError: () => string | undefined
}> {
  const hub = hubOf([sourceOf("up", config)])
  await hub.ready()
  const [operation] = hub.registry.list()
  expect(operation).toBeDefined()
  const served = await serveHub(hub, {
    port: 0,
    apiKeys: [{ hash: hashApiKey(KEY), id: "ada", scopes: ["far"] }],
  })
  onTestFinished(() => served.close())
  const call = async () => {
    const response = await fetch(`${served.url}/operations/up.${operation?.name}`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: "{}",
    })
    return { status: response.status, ...((await response.json()) as object) }
  }
  return { call, lastError: () => hub.sources[0]?.lastError?.reason }
}

describe.each(Object.keys(UPSTREAMS))("a credential of the hub that %s refuses", (kind) => {
  test("because it has expired is not the caller's 401, and its source says so", async () => {
    // Real time: the connection to another hub ends when its credential does.
    let known: Caller = { ...IDENTITY, expiresAt: Date.now() + 2500 }
    const { call, lastError } = await callOf(await UPSTREAMS[kind]!(() => known))
    expect(await call()).toMatchObject({ status: 200 })
    known = undefined
    await expect
      .poll(async () => await call())
      .toMatchObject({
        status: 503,
        code: "UNAVAILABLE",
        details: { source: "up" },
        retryable: false,
      })
    expect(lastError()).toBeDefined()
  })
})
