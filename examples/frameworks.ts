import { createServer } from "node:http"
import type { RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { getRequestListener } from "@hono/node-server"
import { toNodeHandler } from "h3/node"
import { api } from "./frameworks/api.ts"
import { app as inExpress } from "./frameworks/express.ts"
import { app as inFastify } from "./frameworks/fastify.ts"
import { app as inH3 } from "./frameworks/h3.ts"
import { app as inHono } from "./frameworks/hono.ts"
import { handler } from "./frameworks/lambda.ts"
import * as route from "./frameworks/next.ts"

const task = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ title: "Milk" }),
}

/** Creates a task, and reads a stream to its end. */
async function use(name: string, send: (path: string, init?: RequestInit) => Promise<Response>) {
  const created = await send("/api/v1/api/task/create", task)
  console.log(`${name}: ${created.status} ${await created.text()}`)
  const stream = await send("/api/v1/api/task/ticks")
  const ticks = [...(await stream.text()).matchAll(/^data: (\d+)$/gm)].map(([, tick]) => tick)
  console.log(`${name}: ${ticks.join(" ")}`)
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
await listen("h3", (request, response) => void toNodeHandler(inH3)(request, response))

const methods: Record<string, (request: Request) => Promise<Response>> = { ...route }
await use("Next", async (path, init) => {
  const request = new Request(`https://app.example.com${path}`, init)
  return (await methods[request.method]?.(request)) ?? Response.error()
})

const answer = await handler({
  rawPath: "/api/v1/api/task/create",
  rawQueryString: "",
  headers: task.headers,
  requestContext: { domainName: "api.example.com", http: { method: task.method } },
  body: task.body,
  isBase64Encoded: false,
})
const { statusCode, body } = answer as { statusCode: number; body: string }
console.log(`Lambda: ${statusCode} ${Buffer.from(body, "base64").toString()}`)

await api.close()
