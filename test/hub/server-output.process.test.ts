import { describe, expect, onTestFinished, test } from "vitest"
import { createClient } from "../../src/index.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import { hashApiKey } from "../../src/to-http.ts"
import { failure } from "../contract/link.ts"
import { awkward } from "../sources/mcp/support/awkward.ts"
import { hubOf, sourceOf, untilSource } from "./support.ts"

const PATH = "/srv/private/place.ts:7"
const ADMIN = "an-administrators-key-31bc"
const USER = "a-key-of-somebody-else-90fe"
const apiKeys = [
  { id: "ada", hash: hashApiKey(ADMIN), scopes: ["hub:admin"] },
  { id: "bob", hash: hashApiKey(USER), scopes: [] },
]

/** A hub with a server that writes a path to stderr, and dies when it is asked to. */
async function serving() {
  const hub = hubOf(
    [sourceOf("evil", { mcp: awkward({ stderr: PATH }) }, { include: ["crash"] })],
    {
      retry: false,
    },
  )
  await hub.ready()
  const served = await serveHub(hub, { port: 0, console: false, drainMs: 0, apiKeys })
  onTestFinished(() => served.close())
  return { hub, served }
}

describe("what the process of an MCP server wrote before it died", () => {
  test("is in the error for the application, and in the details for administrators", async () => {
    const { hub, served } = await serving()

    const error = await failure(hub.registry.execute("evil.crash", {}))

    expect(error.message).toContain(PATH)
    expect(error.details).toMatchObject({ stderrTail: expect.stringContaining(PATH) as unknown })
    await untilSource(hub, "evil", ({ state }) => state === "lost")
    const response = await fetch(`${served.url}/hub/sources/evil`, {
      headers: { authorization: `Bearer ${ADMIN}` },
    })
    const details = (await response.json()) as { stderr?: string }
    expect(details.stderr).toContain(PATH)
  })

  test("is in no answer to a caller, which says why all the same", async () => {
    const { served } = await serving()
    const authorization = `Bearer ${USER}`
    const reason = `Calling tool "crash" of MCP server "evil": the server went away`

    const http = await fetch(`${served.url}/operations/evil.crash`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: "{}",
    })
    const mcp = await fetch(`${served.url}/mcp`, {
      method: "POST",
      headers: {
        ...{ authorization, "content-type": "application/json", "mcp-name": "evil_crash" },
        ...{ "mcp-method": "tools/call", "mcp-protocol-version": "2026-07-28" },
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: {
          ...{ name: "evil_crash", arguments: {} },
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
          },
        },
      }),
    })
    const transport = createWebSocketTransport(served.wsUrl as string, {
      ...{ logger: silentLogger, token: USER, insecure: true },
    })
    const client = createClient(transport, { logger: silentLogger })
    onTestFinished(() => client.close())
    const error = await failure(client.call("evil.crash", {}))

    const answers = [await http.text(), await mcp.text(), JSON.stringify(error)]
    for (const text of answers) {
      expect(text).toContain("ended with code 3")
      expect(text.replaceAll("\\", "")).toContain(reason)
      expect(text).not.toMatch(/srv\/private|boom|last wrote|stderrTail/)
    }
  })
})
