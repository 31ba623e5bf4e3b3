import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { PendingRequestMap, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { operation, quietRegistry } from "../support/operations.ts"
import { EACH_BUS } from "./each-bus.ts"

const LIMITS = { maxInFlight: 8, maxQueued: 16 }

/** Calls so often that the slots and the queue are always full, until `signal` aborts. */
function flood(map: PendingRequestMap, operationId: string, signal: AbortSignal): Promise<unknown> {
  const loop = async (): Promise<void> => {
    while (!signal.aborted) await map.call(operationId, {}, { signal }).catch(() => sleep(5))
  }
  return Promise.all(Array.from({ length: 100 }, loop))
}

describe.each(EACH_BUS)("an operation that fills its worker, over %s", (_name, start) => {
  test.each(["query", "mutation"] as const)(
    "leaves room for the calls of another %s",
    async (type) => {
      await using bus = await start()
      let hot = 0
      let hung = 0
      const registry = quietRegistry([
        operation("demo.hot", { type, handler: () => sleep(20, (hot += 1)) }),
        operation("demo.hangs", {
          type,
          handler: async (_input, { signal }: { readonly signal: AbortSignal }) => {
            hung++
            await sleep(60_000, undefined, { signal })
          },
        }),
        operation("demo.other", { type, handler: (input) => input }),
      ])
      const transport = bus.transport()
      await using _server = serveCalls(registry, { transport, ...LIMITS, logger: silentLogger })
      await transport.whenConnected()
      const map = new PendingRequestMap(bus.transport(), { logger: silentLogger })
      const stop = new AbortController()
      const outcomes = async (calls: number): Promise<string[]> => {
        const codes: string[] = []
        for (let at = 0; at < calls; at++) {
          const code = await map.call("demo.other", { at }).then(
            () => "ok",
            (error: { readonly code: string }) => error.code,
          )
          if (code !== "ok") codes.push(code)
        }
        return codes
      }

      const flooding = flood(map, "demo.hot", stop.signal)
      await expect.poll(() => hot).toBeGreaterThan(LIMITS.maxInFlight)
      expect(await outcomes(25)).toEqual([])
      const hanging = flood(map, "demo.hangs", stop.signal)
      await expect.poll(() => hung).toBeGreaterThan(3)
      expect(await outcomes(25)).toEqual([])
      stop.abort()
      await Promise.all([flooding, hanging])
      await map.close()
    },
  )
})
