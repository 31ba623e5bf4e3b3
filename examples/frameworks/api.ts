// #region api
import { createRegistry, defineOperation } from "@alkdev/operations"
import { toHTTP } from "@alkdev/operations/to-http"
import { toMCP } from "@alkdev/operations/to-mcp"
import { Type } from "@alkdev/operations/type"

const create = defineOperation({
  type: "mutation",
  description: "Adds a task",
  inputSchema: Type.Object({ title: Type.String() }),
  outputSchema: Type.Object({ id: Type.Integer(), title: Type.String() }),
  accessControl: { requiredScopes: [] },
  handler: ({ title }) => ({ id: 1, title }),
})

const ticks = defineOperation({
  type: "subscription",
  description: "Counts to three",
  inputSchema: Type.Object({}),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  async *handler() {
    for (const tick of [1, 2, 3]) yield tick
  },
})

const registry = createRegistry({ task: { create, ticks } }, { output: "strict" })

export const api = toHTTP(registry, {
  basePath: "/api/v1",
  // Public host names of the application; not needed if `auth` is set.
  allowedHosts: ["app.example.com", "api.example.com"],
  mounts: { "/api/v1/mcp": toMCP(registry) },
})
// #endregion
