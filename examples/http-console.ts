import { createRegistry, defineOperation } from "@alkdev/operations"
import { serveHTTP } from "@alkdev/operations/node"
import { Type } from "@alkdev/operations/type"

const greet = defineOperation({
  type: "query",
  description: "Greets a person",
  inputSchema: Type.Object({ name: Type.String() }),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
  handler: ({ name }) => `Hello, ${name}`,
})

await using served = await serveHTTP(createRegistry({ demo: { greet } }, { output: "strict" }), {
  port: 0,
  console: true,
})

for (const accept of ["text/html", "application/json"]) {
  const { headers } = await fetch(`${served.url}/`, { headers: { accept } })
  console.log(`GET / as ${accept}: ${headers.get("content-type")}`)
}
