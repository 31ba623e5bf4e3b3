// Callers opt out of policies, on every way in that has a place for their options.
import { expect, test } from "vitest"
import { CallError } from "../../src/index.ts"
import type { CallPolicy } from "../../src/index.ts"
import { operation } from "../support/operations.ts"
import { provideBrokers } from "../support/brokers.ts"
import { openSurface } from "../support/surfaces.ts"

const BROKERS = await provideBrokers()
const WAYS = [
  ...["registry", "memory", "worker", "WebSocket", "HTTP client", "batch", "two hops"],
  ...Object.keys(BROKERS),
]

test.each(WAYS)("a caller's policy travels with its call over %s", async (way) => {
  let runs = 0
  const get = operation("api.get", {
    type: "query",
    inputSchema: { type: "object" },
    outputSchema: { type: "object" },
    resilience: { cache: { ttl: 60_000 }, retry: { delay: 0 } },
    handler: ({ fails }: { readonly fails?: boolean }) => {
      runs++
      if (fails === true) throw new CallError("UNAVAILABLE", "away", { retryable: true })
      return { runs }
    },
  })
  await using broker = await BROKERS[way]?.()
  const terms = { upstream: "", errors: undefined, operations: [get], broker: broker?.url }
  await using surface = await openSurface(way, terms)
  const read = async (policy?: CallPolicy): Promise<unknown> =>
    (await surface.call("api.get", { policy })).data
  const seen = [await read(), await read(), await read({ cache: "skip" })]
  seen.push(await read({ cache: "refresh" }), await read())
  expect(seen).toEqual([1, 1, 2, 3, 3].map((run) => ({ runs: run })))
  await surface.call("api.get", { input: { fails: true }, policy: { retry: false } })
  expect(runs).toBe(4)
  await surface.call("api.get", { input: { fails: true }, policy: { retry: { attempts: 2 } } })
  expect(runs).toBe(6)
})
