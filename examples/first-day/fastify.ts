import { toHTTP } from "@alkdev/operations/to-http"
import fastify from "fastify"
import { createTasks } from "./tasks.ts"

const tasks = toHTTP(createTasks(), { basePath: "/tasks" })
const app = fastify()
await app.register(async (scope) => {
  // `tasks` reads the bodies itself, so that it accepts uploads of all types.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", (_request, _body, done) => done(null))
  scope.all("/tasks/*", (request, reply) => {
    reply.hijack()
    tasks.node(request.raw, reply.raw)
  })
})
await app.listen({ port: 3002 })
console.log("Fastify is ready")
