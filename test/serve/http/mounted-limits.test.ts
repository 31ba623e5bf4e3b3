// The limits of a server for bodies hold for what is mounted in it, too.
import { describe, expect, onTestFinished, test } from "vitest"
import { createRegistry } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { serveHTTP } from "../../../src/node.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { operation } from "../../support/operations.ts"
import { rawRequest } from "../mcp/support/clients.ts"

const LIMITS = { maxBodyBytes: 2000, maxDepth: 10 }

/** An object of so many levels. */
function nested(levels: number): object {
  return levels === 1 ? {} : { in: nested(levels - 1) }
}

const WAYS: Readonly<Record<string, (url: string, input: object) => Promise<Response>>> = {
  REST: (url, input) =>
    fetch(`${url}/api/own/take`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(input),
    }),
  MCP: (url, input) =>
    fetch(
      `${url}/mcp`,
      rawRequest("tools/call", { params: { name: "own_take", arguments: input } }),
    ),
}

describe.each(Object.entries(WAYS))("the limits of a server over %s", (_, send) => {
  test.each([
    ["a small body", { text: "a" }, 200],
    ["as many levels as there may be", nested(10), 200],
    ["a large body", { text: "a".repeat(3000) }, 413],
    ["too many levels", nested(20), 400],
  ])("%s", async (_name, input, status) => {
    const registry = createRegistry(
      [operation("own.take", { inputSchema: { type: "object" }, handler: () => ({}) })],
      { logger: silentLogger },
    )
    const mcp = toMCP(registry)
    const served = await serveHTTP(registry, { ...LIMITS, port: 0, mcp, logger: silentLogger })
    onTestFinished(async () => {
      await served.close()
      await mcp.close()
    })
    expect((await send(served.url, input)).status).toBe(status)
  })
})
