import { createRegistry, defineOperation, serveCalls } from "@alkdev/operations"
import { createWorkerTransport } from "@alkdev/operations/worker"
import { Type } from "@alkdev/operations/type"

const shout = defineOperation({
  type: "query",
  description: "Converts a text to upper case",
  inputSchema: Type.Object({ text: Type.String() }),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
  handler: ({ text }) => text.toUpperCase(),
})

// #region serve
export const registry = createRegistry({ text: { shout } }, { output: "strict" })

serveCalls(registry, { transport: createWorkerTransport(self) })
// #endregion
