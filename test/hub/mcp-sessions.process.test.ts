// Callers of a hub with authentication, and MCP servers that keep state for a session.
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { resolveConfig, type SourceConfig } from "../../src/config.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { createMCPClient } from "../../src/from-mcp.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { hashApiKey } from "../../src/to-http.ts"
import { ROOT } from "./plain.ts"

const mcp = `${process.execPath} ${join(ROOT, "test/sources/mcp/support/browser-server.mjs")}`

function keyOf(id: string): string {
  return `key-of-${id}-0123456789abcdef`
}

/** Calls a tool of a hub over MCP, as one of its callers. */
async function callersOf(source: SourceConfig) {
  const apiKeys = ["ada", "bob"].map((id) => ({ id, hash: hashApiKey(keyOf(id)), scopes: [] }))
  const config = resolveConfig({ sources: { web: source }, server: { apiKeys } }, { baseDir: ROOT })
  const hub = createHub(config, { logger: silentLogger })
  onTestFinished(() => hub.close())
  await hub.ready()
  const served = await serveHub(hub, { port: 0 })
  onTestFinished(() => served.close())
  const connect = async (id: string) => {
    const headers = { Authorization: `Bearer ${keyOf(id)}` }
    const client = await createMCPClient(id, { url: served.mcpUrl ?? "", headers })
    onTestFinished(() => client.close())
    return async (tool: string, input: object = {}): Promise<unknown> =>
      (await client.client.callTool(`web_${tool}`, { ...input })).data
  }
  return { ada: await connect("ada"), bob: await connect("bob") }
}

describe("the page of a browser that one caller of a hub has opened", () => {
  test("is not seen by another", async () => {
    const { ada, bob } = await callersOf({ mcp })
    await ada("navigate", { url: "https://bank.example" })
    expect(await bob("snapshot")).toEqual([{ type: "text", text: "about:blank" }])
    expect(await ada("snapshot")).toEqual([{ type: "text", text: "https://bank.example" }])
  })

  test("is seen by all with sessions: shared", async () => {
    const { ada, bob } = await callersOf({ mcp, sessions: "shared" })
    await ada("navigate", { url: "https://open.example" })
    expect(await bob("snapshot")).toEqual([{ type: "text", text: "https://open.example" }])
  })
})
