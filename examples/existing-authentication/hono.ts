import { Hono } from "hono"
import { api, toIdentity, type User } from "./members.ts"
import { userOf } from "./sessions.ts"

export const app = new Hono<{ Variables: { user: User | undefined } }>()
app.use(async (c, next) => {
  c.set("user", userOf(c.req.header("cookie")))
  await next()
})
app.all("/v1/*", (c) => api.fetch(c.req.raw, { identity: toIdentity(c.get("user")) }))
