import { createClient } from "@alkdev/operations"
import { createWebSocketTransport } from "@alkdev/operations/websocket"
import type { createTasks } from "./tasks.ts"

const { TASKS_KEY } = process.env
const transport = createWebSocketTransport("ws://localhost:3000/ws", { token: TASKS_KEY })
const client = createClient<ReturnType<typeof createTasks>>(transport)

// #region call
const { data } = await client.task.create({ title: "Call from TypeScript" })
console.log(data.id, data.title, data.owner)
// #endregion

await transport.close()
