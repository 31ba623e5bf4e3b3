import { expect, test } from "vitest"
import type { Pair } from "./lanes.ts"
import type { WatchedClient } from "./support.ts"
import { waitFor } from "../../../support/wait-for.ts"

const CHANGED = "notifications/tools/list_changed"

/** How often a client was told that the tools have changed. */
export function countChanges({ received }: WatchedClient): number {
  return received.filter(({ method }) => method === CHANGED).length
}

async function namesOf(client: WatchedClient): Promise<unknown[]> {
  return (await client.tools()).map(({ name }) => name)
}

/** Changes of the tools, on a lane that is open. */
export function testChanges(opened: () => Pair): void {
  test("of the tools reach the client, who finds them done", async () => {
    const { through } = opened()
    await through.call("echo", { text: "connected" })
    const before = countChanges(through)
    const add = {
      name: "later",
      description: "Came later.",
      inputSchema: { type: "object", properties: { a: { const: 1 } } },
    }

    await through.call("change", { add })
    await waitFor(() => expect(countChanges(through)).toBe(before + 1))
    expect((await through.tools()).find(({ name }) => name === "later")).toEqual(add)
    expect((await through.call("later", { a: 1 })).result).toMatchObject({
      structuredContent: { tool: "later", args: { a: 1 } },
    })

    await through.call("change", { remove: "later" })
    await waitFor(() => expect(countChanges(through)).toBe(before + 2))
    expect(await namesOf(through)).not.toContain("later")
    expect((await through.call("later")).error).toMatchObject({ code: -32602 })
  })
}
