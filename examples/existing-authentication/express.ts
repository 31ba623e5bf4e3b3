import express from "express"
import { api, toIdentity, type User } from "./members.ts"
import { userOf } from "./sessions.ts"

export const app = express()
// In place of app.use(passport.session()), which also sets request.user.
app.use((request, _response, next) => {
  Object.assign(request, { user: userOf(request.headers.cookie) })
  next()
})
app.use("/v1", (request, response) => {
  const { user } = request as { readonly user?: User }
  api.node(request, response, { identity: toIdentity(user) })
})
