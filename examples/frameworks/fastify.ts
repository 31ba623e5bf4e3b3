import fastify from "fastify"
import { api } from "./api.ts"

export const app = fastify()
app.all("/api/v1/*", (request, reply) => {
  reply.hijack()
  api.node(request.raw, reply.raw, { body: request.body })
})
