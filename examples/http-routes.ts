import { runLines } from "./http/run-lines.ts"
// #region routes
import { createRegistry, defineOperation } from "@alkdev/operations"
import { serveHTTP } from "@alkdev/operations/node"
import { Type } from "@alkdev/operations/type"

const User = Type.Object({ id: Type.Integer(), name: Type.String() })

const get = defineOperation({
  type: "query",
  description: "Returns a user",
  inputSchema: Type.Object({ id: Type.Integer() }),
  outputSchema: User,
  accessControl: { requiredScopes: [] },
  route: { method: "GET", path: "/users/{id}" },
  handler: ({ id }) => ({ id, name: "Ada" }),
})

const create = defineOperation({
  type: "mutation",
  description: "Creates a user",
  inputSchema: Type.Object({ name: Type.String() }),
  outputSchema: User,
  accessControl: { requiredScopes: [] },
  route: { method: "POST", path: "/users", status: 201 },
  handler: ({ name }) => ({ id: 8, name }),
})

const rename = defineOperation({
  type: "mutation",
  description: "Renames a user",
  inputSchema: User,
  outputSchema: User,
  accessControl: { requiredScopes: [] },
  route: { method: "PATCH", path: "/users/{id}" },
  handler: (user) => user,
})

const registry = createRegistry({ user: { get, create, rename } }, { output: "strict" })
const served = await serveHTTP(registry, { port: 8788, websocket: false })
// #endregion

await runLines("http/routes.sh")
await served.close()
