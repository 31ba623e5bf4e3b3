import { createServer } from "node:http"
import type { RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { getRequestListener } from "@hono/node-server"
import { api } from "./existing-authentication/members.ts"
import { app as inExpress } from "./existing-authentication/express.ts"
import { app as inFastify } from "./existing-authentication/fastify.ts"
import { app as inHono } from "./existing-authentication/hono.ts"
import * as route from "./existing-authentication/next.ts"

type Send = (path: string, init: RequestInit) => Promise<Response>

/** Calls as a member, as somebody else, and without a session. */
async function use(name: string, send: Send): Promise<void> {
  const results: unknown[] = []
  for (const cookie of ["session=ada", "session=eve", ""]) {
    const response = await send("/v1/api/me/greet", { headers: { cookie } })
    results.push(response.ok ? await response.json() : response.status)
  }
  console.log(`${name}: ${results.join(" | ")}`)
}

async function listen(name: string, listener: RequestListener): Promise<void> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await use(name, (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init))
  server.closeAllConnections()
  server.close()
}

const { Request } = globalThis

await listen("Express", inExpress)
await inFastify.ready()
await listen("Fastify", (request, response) => inFastify.routing(request, response))
const hono = getRequestListener(inHono.fetch)
await listen("Hono", (request, response) => void hono(request, response))
const methods: Record<string, (request: Request) => Promise<Response>> = { ...route }
await use("Next", async (path, init) => {
  const request = new Request(`https://app.example.com${path}`, init)
  return (await methods[request.method]?.(request)) ?? Response.error()
})

await api.close()
