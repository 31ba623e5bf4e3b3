import { Hono } from "hono"
import { api } from "./api.ts"

export const app = new Hono()
app.all("/api/v1/*", (c) => api.fetch(c.req.raw))
