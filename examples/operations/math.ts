import { defineOperation } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

const Pair = Type.Object({ left: Type.Number(), right: Type.Number() })

export const add = defineOperation({
  namespace: "math",
  name: "add",
  type: "query",
  description: "Adds two numbers",
  inputSchema: Pair,
  outputSchema: Type.Number(),
  accessControl: { requiredScopes: [] },
  handler: ({ left, right }) => left + right,
})

export const multiply = defineOperation({
  namespace: "math",
  name: "multiply",
  type: "query",
  description: "Multiplies two numbers",
  inputSchema: Pair,
  outputSchema: Type.Number(),
  accessControl: { requiredScopes: [] },
  handler: ({ left, right }) => left * right,
})
