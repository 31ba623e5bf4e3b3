import { defineOperation } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

export default defineOperation({
  namespace: "demo",
  name: "greet",
  type: "query",
  description: "Greets a person",
  inputSchema: Type.Object({ name: Type.String() }),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
  handler: ({ name }) => `Hello, ${name}`,
})
