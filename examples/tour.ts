import { createClient, createRegistry, defineOperation, serveCalls } from "@alkdev/operations"
import { createMemoryTransports } from "@alkdev/operations/testing"
import { toHTTP } from "@alkdev/operations/to-http"
import { Type } from "@alkdev/operations/type"

const count = defineOperation({
  type: "query",
  description: "Counts the words of a text",
  inputSchema: Type.Object({ text: Type.String() }),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  handler: ({ text }) => text.split(/\s+/).filter(Boolean).length,
})

const registry = createRegistry({ text: { count } }, { output: "strict" })

// In the same process.
console.log((await registry.execute("text.count", { text: "one two" })).data)

// Over a link to another thread, process or machine.
const [near, far] = createMemoryTransports()
const server = serveCalls(registry, { transport: far })
const client = createClient<typeof registry>(near)
console.log((await client.text.count({ text: "one two three" })).data)
await server.close()

// Over HTTP, from any language.
await using api = toHTTP(registry)
const response = await api.fetch(new Request("http://localhost/api/text/count?text=one"))
console.log(response.status, await response.text())
