import { serveHTTP } from "@alkdev/operations/node"
import { toMCP } from "@alkdev/operations/to-mcp"
import { createTasks } from "./tasks.ts"

const { TASKS_KEY_HASH = "" } = process.env
const registry = createTasks()

const { url } = await serveHTTP(registry, {
  port: 3000,
  auth: {
    apiKeys: [{ hash: TASKS_KEY_HASH, identity: { id: "ada", scopes: ["tasks:write"] } }],
  },
  mcp: toMCP(registry, { name: "tasks" }),
  signals: true,
})
console.log(`Serving ${url}`)
