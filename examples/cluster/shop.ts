// #region registry
import { createRegistry, defineOperation } from "@alkdev/operations"
import { appendFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { Type } from "@alkdev/operations/type"

/** What every worker serves. `worker` is its name, `journal` a file that records what ran where. */
export function createShop(worker: string, journal: string) {
  const quote = defineOperation({
    type: "query",
    description: "Returns the price of an order",
    inputSchema: Type.Object({ pieces: Type.Integer({ minimum: 1 }) }),
    outputSchema: Type.Object({ price: Type.Number(), worker: Type.String() }),
    accessControl: { requiredScopes: [] },
    handler: async ({ pieces }) => {
      await sleep(5)
      return { price: pieces * 3, worker }
    },
  })

  const place = defineOperation({
    type: "mutation",
    description: "Places an order",
    inputSchema: Type.Object({ order: Type.Integer(), takes: Type.Integer() }),
    outputSchema: Type.Object({ order: Type.Integer(), worker: Type.String() }),
    accessControl: { requiredScopes: [] },
    handler: async ({ order, takes }) => {
      appendFileSync(journal, `${order} ${worker}\n`)
      await sleep(takes)
      return { order, worker }
    },
  })

  const follow = defineOperation({
    type: "subscription",
    description: "Streams the status of an order",
    inputSchema: Type.Object({ order: Type.Integer() }),
    outputSchema: Type.Object({ order: Type.Integer(), station: Type.Integer() }),
    accessControl: { requiredScopes: [] },
    async *handler({ order }, context) {
      for (let station = 1; ; station++) {
        yield { order, station }
        await sleep(1, undefined, { signal: context.signal })
      }
    },
  })

  return createRegistry({ order: { quote, place, follow } }, { output: "strict" })
}

export type Shop = ReturnType<typeof createShop>
// #endregion
