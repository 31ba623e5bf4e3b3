import { setTimeout as sleep } from "node:timers/promises"
import { defineOperation } from "@alkdev/operations"
import { Type } from "typebox"

const OPENING = { BEAN: 241.5, LEAF: 88.2, MILK: 19.75 } as const

export const prices = defineOperation({
  namespace: "market",
  name: "prices",
  type: "subscription",
  title: "Watch prices",
  description: "Streams the price of a share as it goes up and down",
  tags: ["money", "live"],
  inputSchema: Type.Object({
    symbol: Type.Union([Type.Literal("BEAN"), Type.Literal("LEAF"), Type.Literal("MILK")], {
      default: "BEAN",
      description: "Coffee, tea or milk",
    }),
    every: Type.Integer({
      default: 500,
      minimum: 20,
      maximum: 60_000,
      description: "Milliseconds between two prices",
    }),
  }),
  outputSchema: Type.Object({
    tick: Type.Integer(),
    symbol: Type.String(),
    price: Type.Number(),
    change: Type.Number({ description: "Change from the previous price, in percent" }),
  }),
  examples: [{ symbol: "BEAN", every: 200 }],
  annotations: { readOnly: true, openWorld: false },
  accessControl: { requiredScopes: [] },
  async *handler({ symbol, every }, { signal }) {
    let price: number = OPENING[symbol]
    for (let tick = 1; ; tick++) {
      const change = Math.round((Math.random() - 0.49) * 200) / 100
      price = Math.max(1, Math.round(price * (100 + change)) / 100)
      yield { tick, symbol, price, change }
      await sleep(every, undefined, { signal })
    }
  },
})
