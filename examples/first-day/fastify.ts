import { toHTTP } from "@alkdev/operations/to-http"
import fastify from "fastify"
import { createTasks } from "./tasks.ts"

const tasks = toHTTP(createTasks(), { basePath: "/tasks" })
const app = fastify()
app.all("/tasks/*", (request, reply) => {
  reply.hijack()
  tasks.node(request.raw, reply.raw, { body: request.body })
})
await app.listen({ port: 3002 })
console.log("Fastify is ready")
