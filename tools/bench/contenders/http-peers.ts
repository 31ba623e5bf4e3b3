import { createServer } from "node:http"
import type { Server } from "node:http"
import { createAdaptorServer } from "@hono/node-server"
import { os } from "@orpc/server"
import { RPCHandler } from "@orpc/server/node"
import { BatchHandlerPlugin } from "@orpc/server/plugins"
import { initTRPC } from "@trpc/server"
import { createHTTPServer } from "@trpc/server/adapters/standalone"
import fastify from "fastify"
import { Hono } from "hono"
import { Compile } from "typebox/schema"
import { Quote, quote, QuoteInput } from "../cases.ts"
import { standard } from "./orpc.ts"
import { parser } from "./socket.ts"

const parseInput = parser<QuoteInput>(QuoteInput)
const parseOutput = parser<Quote>(Quote)

/** Fastify, with the compiled check as its validator; its own serializer writes what was checked. */
export async function fastifyServer(): Promise<Server> {
  const app = fastify()
  app.setValidatorCompiler(({ schema }) => {
    const compiled = Compile(schema)
    return (value) =>
      compiled.Check(value) ? { value } : { error: new TypeError("The input is invalid.") }
  })
  app.post<{ Body: QuoteInput }>(
    "/quote",
    { schema: { body: QuoteInput, response: { 200: Quote } } },
    async ({ body }) => parseOutput(await quote(body)),
  )
  await app.ready()
  return app.server
}

/** Hono on Node; its handler checks. */
export function honoServer(): Server {
  const app = new Hono()
  app.post("/quote", async (context) => {
    const input: unknown = await context.req.json()
    try {
      return context.json(parseOutput(await quote(parseInput(input))))
    } catch {
      return context.body(null, 400)
    }
  })
  return createAdaptorServer({ fetch: app.fetch }) as Server
}

const { procedure, router } = initTRPC.create()
const trpcRoutes = router({
  quote: procedure
    .input(parseInput)
    .output(parseOutput)
    .mutation(({ input }) => quote(input)),
})

/** The type that tRPC's client needs. */
export type TRPCRoutes = typeof trpcRoutes

/** tRPC's standalone server. */
export function trpcServer(): Server {
  return createHTTPServer({ router: trpcRoutes })
}

/** oRPC's handler for Node, optionally with batches. */
export function orpcServer(isBatched = false): Server {
  const routes = {
    quote: os
      .input(standard<QuoteInput>(QuoteInput))
      .output(standard<Quote>(Quote))
      .handler(({ input }) => quote(input)),
  }
  const handler = new RPCHandler(routes, isBatched ? { plugins: [new BatchHandlerPlugin()] } : {})
  return createServer((request, response) => {
    void handler.handle(request, response, { context: {} }).then(({ matched }) => {
      if (!matched) response.writeHead(404).end()
    })
  })
}
