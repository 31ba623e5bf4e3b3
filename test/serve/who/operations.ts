import { Type } from "typebox"
import { defineOperation } from "../../../src/index.ts"

const base = {
  namespace: "who",
  version: "1.0.0",
  description: "Says who is calling",
  inputSchema: Type.Object({}),
  outputSchema: Type.Object({ id: Type.String() }),
  accessControl: { requiredScopes: [] },
} as const

export const am = defineOperation({
  ...base,
  name: "am",
  type: "query",
  handler: (_, { identity }) => ({ id: identity?.id ?? "anonymous" }),
})

export const watch = defineOperation({
  ...base,
  name: "watch",
  type: "subscription",
  async *handler(_, { identity }) {
    yield { id: identity?.id ?? "anonymous" }
  },
})
