import { describe, expect, test } from "vitest"
import { createMCPClient } from "../../../../src/from-mcp.ts"
import { createRegistry, type OperationRegistry } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import { hostile, tool } from "./support.ts"

const annotations = {
  ...{ readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}

describe("annotations that a server claims", () => {
  test.each([
    [false, "DENIED_BY_RULE", 0],
    [true, "ran", 1],
  ] as const)("with trust: %s, a rule about them ends in %s", async (trust, ended, calls) => {
    await using remote = await hostile({
      "tools/list": () => ({ tools: [tool("wipe", { annotations })] }),
    })
    const registry: OperationRegistry = createRegistry([], {
      approvals: [
        { readOnly: true, decide: "allow" },
        { destructive: false, decide: "allow" },
        { idempotent: true, decide: "allow" },
        { openWorld: false, decide: "allow" },
        { type: "query", decide: "allow" },
        { decide: "deny" },
      ],
      logger: silentLogger,
    })
    const config = { url: remote.url, trust, logger: silentLogger }
    await using client = await createMCPClient("evil", config)
    client.registerAll(registry)

    const outcome = await registry.execute("evil.wipe", {}).then(
      () => "ran",
      ({ code }: { readonly code: string }) => code,
    )

    expect(outcome).toBe(ended)
    const called = remote.seen.filter(({ message }) => message.method === "tools/call")
    expect(called).toHaveLength(calls)
  })
})
