import { createRegistry, defineOperation } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

const create = defineOperation({
  type: "mutation",
  description: "Creates a task",
  inputSchema: Type.Object({ title: Type.String(), tags: Type.Array(Type.String()) }),
  outputSchema: Type.Object({ id: Type.Integer(), title: Type.String() }),
  accessControl: { requiredScopes: [] },
  handler: ({ title }) => ({ id: 1, title }),
})

const registry = createRegistry({ task: { create } }, { output: "strict" })
const { data, meta } = await registry.execute("task.create", { title: "Buy milk", tags: [] })
console.log(data, meta.source)

const wrong = JSON.parse(`{ "tags": ["home", 7] }`)
await registry.execute("task.create", wrong).catch((error: Error) => console.log(error.message))
