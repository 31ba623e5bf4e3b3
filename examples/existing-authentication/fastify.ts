import fastify from "fastify"
import { api, toIdentity } from "./api.ts"
import { userOf } from "./sessions.ts"

export const app = fastify()
app.all("/v1/*", (request, reply) => {
  const identity = toIdentity(userOf(request.headers.cookie))
  reply.hijack()
  api.node(request.raw, reply.raw, { body: request.body, identity })
})
