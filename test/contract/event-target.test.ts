import { describe, expect, test } from "vitest"
import { PendingRequestMap, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { contractOperations, identityRule } from "./operations.ts"
import { testTransport } from "./transport.ts"

testTransport(
  "an EventTarget",
  async ({ rule }) => {
    const { registry, log } = contractOperations()
    const target = new EventTarget()
    const map = new PendingRequestMap(target, { logger: silentLogger })
    const served = new PendingRequestMap(target, { logger: silentLogger })
    const server = serveCalls(registry, { callMap: served, resolveIdentity: identityRule(rule) })
    return {
      map,
      log,
      countsClaims: true,
      inFlight: () => server.inFlight,
      close: async () => {
        await map.close()
        await server.close()
        await served.close()
        await registry.close()
      },
    }
  },
  { hasPeer: false, hasTransport: false },
)

describe("an EventTarget that several share", () => {
  test("brings each its own answers, and lets each close by itself", async () => {
    const { registry } = contractOperations()
    const target = new EventTarget()
    const server = serveCalls(registry, { transport: target, logger: silentLogger })
    const maps = [1, 2, 3].map(() => new PendingRequestMap(target, { logger: silentLogger }))
    const results = await Promise.all(maps.map((map, index) => map.call("demo.echo", index)))
    expect(results.map(({ data }) => data)).toEqual([0, 1, 2])

    const waiting = maps[1]?.call("demo.slow", { value: "still here", delay: 30 })
    await maps[0]?.close()
    expect((await waiting)?.data).toBe("still here")
    for (const map of maps) await map.close()
    await server.close()
    await registry.close()
  })

  test("may carry other things too", async () => {
    const target = new EventTarget()
    await using map = new PendingRequestMap(target, { logger: silentLogger })
    target.dispatchEvent(new Event("call.responded"))
    target.dispatchEvent(new CustomEvent("call.responded", { detail: "not ours" }))
    target.dispatchEvent(new CustomEvent("other", { detail: { requestId: "r" } }))
    expect(map.droppedCount).toBe(2)
  })
})
