import { setTimeout as sleep } from "node:timers/promises"
import { defineOperation } from "@alkdev/operations"
import { Type } from "typebox"

const common = { namespace: "soak", accessControl: { requiredScopes: [] } } as const

export const echo = defineOperation({
  ...common,
  name: "echo",
  type: "query",
  description: "Returns its input",
  inputSchema: Type.Object({ n: Type.Integer() }),
  outputSchema: Type.Object({ n: Type.Integer() }),
  handler: (input) => input,
})

export const wait = defineOperation({
  ...common,
  name: "wait",
  type: "query",
  description: "Waits for a minute, or until its caller leaves",
  inputSchema: Type.Object({}),
  outputSchema: Type.Null(),
  handler: async (_input, { signal }) => await sleep(60_000, null, { signal }),
})

export const count = defineOperation({
  ...common,
  name: "count",
  type: "subscription",
  description: "Counts for ever",
  inputSchema: Type.Object({}),
  outputSchema: Type.Integer(),
  async *handler(_input, { signal }) {
    for (let n = 0; ; n++) {
      yield n
      await sleep(5, undefined, { signal })
    }
  },
})
