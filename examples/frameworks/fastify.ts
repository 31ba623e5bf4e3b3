import fastify from "fastify"
import { api } from "./api.ts"

export const app = fastify()
await app.register(async (scope) => {
  // The API reads the bodies itself: Fastify has no parser for uploads.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", (_request, _body, done) => done(null))
  scope.all("/api/v1/*", (request, reply) => {
    reply.hijack()
    api.node(request.raw, reply.raw)
  })
})
