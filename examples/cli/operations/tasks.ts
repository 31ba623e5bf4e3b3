import { defineOperation } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

export const create = defineOperation({
  namespace: "task",
  name: "create",
  type: "mutation",
  description: "Creates a task",
  inputSchema: Type.Object({
    title: Type.String({ description: "What to do" }),
    hours: Type.Optional(Type.Integer({ minimum: 1 })),
    labels: Type.Optional(Type.Array(Type.String())),
    owner: Type.Optional(Type.Object({ name: Type.String() })),
  }),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
  handler: (task) => ({ number: 1, ...task }),
})

export const countdown = defineOperation({
  namespace: "task",
  name: "countdown",
  type: "subscription",
  description: "Counts down the remaining hours",
  inputSchema: Type.Object({ hours: Type.Integer() }),
  outputSchema: Type.Object({ left: Type.Integer() }),
  accessControl: { requiredScopes: [] },
  async *handler({ hours }) {
    for (let left = hours; left >= 0; left--) yield await Promise.resolve({ left })
  },
})
