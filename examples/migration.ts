// #region open
import {
  collectErrors,
  createRegistry,
  isCallError,
  OperationType,
  ResponseEnvelopeSchema,
} from "@alkdev/operations"
import type { IOperationDefinition } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

const count = {
  namespace: "words",
  name: "count",
  version: "1.0.0",
  type: OperationType.QUERY,
  description: "Counts the words of a text",
  inputSchema: Type.Object({ text: Type.String() }),
  outputSchema: Type.Object({ words: Type.Integer() }),
  accessControl: { requiredScopes: ["words.read"] },
  handler: async ({ text }) => ({ words: text.split(" ").length, source: text }),
} satisfies IOperationDefinition

const registry = createRegistry([count], { output: "strict" })
const identity = { id: "ada", scopes: ["words.read"] }
const envelope = await registry.execute("words.count", { text: "to be or not" }, { identity })
console.log(envelope.data, collectErrors(ResponseEnvelopeSchema, envelope))
// #endregion

// #region access
const input = { text: "to be" }
await registry.execute("words.count", input).catch((error: unknown) => {
  if (isCallError(error)) console.log(error.code)
})
console.log((await registry.trusted.execute("words.count", input)).data)
// #endregion

// #region schemas
const values = [{ words: 3 }, { words: "three" }]
for (const value of values) console.log(collectErrors(count.outputSchema, value))
// #endregion
