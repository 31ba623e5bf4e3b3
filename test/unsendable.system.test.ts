// Inputs and metadata that a link cannot carry.
import { describe, expect, test } from "vitest"
import type { OperationContext } from "../src/index.ts"
import { provideBrokers } from "./support/brokers.ts"
import { operation } from "./support/operations.ts"
import { openSurface } from "./support/surfaces.ts"
import type { Surface } from "./support/surfaces.ts"

const BROKERS = await provideBrokers()
const CLIENTS = ["HTTP client", "WebSocket", "worker", "NATS", "Redis", "two hops"].filter(
  (way) => !["NATS", "Redis"].includes(way) || way in BROKERS,
)

const circular: Record<string, unknown> = {}
circular["self"] = circular

/** Values, and the links that carry them. */
const VALUES: readonly (readonly [name: string, value: object, carriedBy: readonly string[]])[] = [
  // Structured clones have these.
  ["a bigint", { deep: [{ n: 1n }] }, ["worker"]],
  ["a cycle", circular, ["worker"]],
  ["a function", { deep: [{ run: () => 1 }] }, []],
  [
    "a getter that throws",
    {
      get secret() {
        throw new Error("unreadable")
      },
    },
    [],
  ],
  [
    "a toJSON that throws",
    {
      at: {
        toJSON() {
          throw new Error("unreadable")
        },
      },
    },
    [],
  ],
]

describe.each(CLIENTS)("over %s", (way) => {
  test("an input or metadata that cannot be sent is a VALIDATION_ERROR, and nothing is executed", async () => {
    let runs = 0
    const operations = [
      operation("shop.pay", { handler: () => void runs++ }),
      operation("shop.watch", {
        type: "subscription",
        handler: async function* (_input: unknown, _context: OperationContext) {
          yield runs++
        },
      }),
    ]
    await using broker = await BROKERS[way]?.()
    const terms = { upstream: "", errors: undefined, operations, broker: broker?.url }
    await using surface = await openSurface(way, terms)
    for (const [name, value, carriedBy] of VALUES) {
      if (carriedBy.includes(way)) continue
      const seen = [
        await surface.call("shop.pay", { input: value }),
        await (surface.stream as Surface["call"])("shop.watch", { input: value }),
        // Functions in metadata are dropped, as `undefined` is.
        ...(name === "a function" ? [] : [await surface.call("shop.pay", { metadata: { value } })]),
      ]
      for (const { code, retryable, mayHaveExecuted } of seen) {
        expect([name, { code, retryable, mayHaveExecuted }]).toEqual([
          name,
          { code: "VALIDATION_ERROR", retryable: false, mayHaveExecuted: false },
        ])
      }
    }
    expect(runs).toBe(0)
    expect(await surface.call("shop.pay", { input: { n: 1 } })).toMatchObject({ code: undefined })
  })
})
