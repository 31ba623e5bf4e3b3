import fastify from "fastify"
import { api, toIdentity } from "./members.ts"
import { userOf } from "./sessions.ts"

export const app = fastify()
await app.register(async (scope) => {
  // The API reads the bodies itself: Fastify has no parser for uploads.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", (_request, _body, done) => done(null))
  scope.all("/v1/*", (request, reply) => {
    const identity = toIdentity(userOf(request.headers.cookie))
    reply.hijack()
    api.node(request.raw, reply.raw, { identity })
  })
})
