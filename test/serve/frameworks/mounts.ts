// Every way of mounting a server in a framework, as one table.

import { createServer } from "node:http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { getRequestListener } from "@hono/node-server"
import express from "express"
import fastify from "fastify"
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { H3, fromNodeHandler, readBody } from "h3"
import { toNodeHandler } from "h3/node"
import { Hono } from "hono"
import { mount } from "hono/mount"
import type { NodeGiven } from "../../../src/to-http.ts"

/** What is mounted; `HTTPServer` and `MCPServer` are such. */
export interface Mountable {
  fetch(this: void, request: Request): Promise<Response>
  node(
    this: void,
    request: IncomingMessage,
    response: ServerResponse,
    given?: NodeGiven | ((...args: never[]) => unknown),
  ): void
}

/** A framework with something mounted in it. */
export interface Mounted extends AsyncDisposable {
  /** Sends a request to a path of the framework. */
  send(this: void, path: string, init?: RequestInit): Promise<Response>
}

/** How something is mounted. */
export interface MountWay {
  readonly name: string
  /** What the handler sees of a sub-path: its requests come without it, or with it. */
  readonly prefix: "removed" | "kept"
  /** Whether answers arrive while they are written. */
  readonly streams: boolean
  /** Whether a body parser of the framework has read the body before the handler gets the request. */
  readonly parses?: boolean
  mount(server: Mountable, path: string): Mounted | Promise<Mounted>
}

// Hono's server for Node replaces the global one.
const NativeRequest = Request

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

/** Listens on any port of the loopback. */
export async function listening(listener: Listener): Promise<Mounted> {
  return await over(createServer((request, response) => void listener(request, response)))
}

async function over(server: Server): Promise<Mounted> {
  if (!server.listening) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  }
  const { port } = server.address() as AddressInfo
  return {
    send: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A handler of web requests, without a network. */
function direct(handle: (request: Request) => Promise<Response>): Mounted {
  return {
    send: (path, init) => handle(new NativeRequest(`http://localhost${path}`, init)),
    async [Symbol.asyncDispose]() {},
  }
}

/** Express with its parser and one handler for everything. */
export async function expressWith(handler: express.RequestHandler): Promise<Mounted> {
  const app = express()
  app.use(express.json())
  app.use(handler)
  return await listening(app)
}

/** The same in Fastify. */
export async function fastifyWith(
  handler: (request: FastifyRequest, reply: FastifyReply) => void,
): Promise<Mounted> {
  const app = fastify({ forceCloseConnections: true })
  app.all("/*", (request, reply) => {
    reply.hijack()
    handler(request, reply)
  })
  await app.listen({ port: 0, host: "127.0.0.1" })
  const { send } = await over(app.server)
  return { send, [Symbol.asyncDispose]: () => app.close() }
}

function inExpress(name: string, ...parsers: express.RequestHandler[]): MountWay {
  return {
    name: `Express, ${name}`,
    prefix: "removed",
    streams: true,
    parses: parsers.length > 0,
    mount(server, path) {
      const app = express()
      for (const parser of parsers) app.use(parser)
      app.use(path === "" ? "/" : path, server.node)
      return listening(app)
    },
  }
}

function inFastify(name: string, hasParser: boolean): MountWay {
  return {
    name: `Fastify, ${name}`,
    prefix: "kept",
    streams: true,
    parses: hasParser,
    async mount(server, path) {
      const app = fastify({ forceCloseConnections: true })
      const plugin = async (scope: FastifyInstance): Promise<void> => {
        if (!hasParser) {
          scope.removeAllContentTypeParsers()
          scope.addContentTypeParser("*", (_request, _payload, done) => done(null))
        }
        scope.all("/*", (request, reply) => {
          reply.hijack()
          server.node(request.raw, reply.raw, { body: request.body })
        })
      }
      await app.register(plugin, { prefix: path })
      await app.listen({ port: 0, host: "127.0.0.1" })
      const { send } = await over(app.server)
      return { send, [Symbol.asyncDispose]: () => app.close() }
    },
  }
}

function inHono(
  name: string,
  prefix: MountWay["prefix"],
  add: (app: Hono, server: Mountable, path: string) => unknown,
): MountWay {
  return {
    name: `Hono, ${name}`,
    prefix,
    streams: true,
    mount(server, path) {
      const app = new Hono()
      add(app, server, path)
      return listening(getRequestListener(app.fetch))
    },
  }
}

function inH3(
  name: string,
  prefix: MountWay["prefix"],
  add: (app: H3, server: Mountable, path: string) => unknown,
): MountWay {
  return {
    name: `h3, ${name}`,
    prefix,
    streams: true,
    mount(server, path) {
      const app = new H3()
      add(app, server, path)
      return listening(toNodeHandler(app))
    },
  }
}

/** As much of an event of API Gateway (payload format 2.0) as an answer takes. */
interface LambdaEvent {
  readonly rawPath: string
  readonly rawQueryString: string
  readonly headers: Readonly<Record<string, string>>
  readonly requestContext: {
    readonly domainName: string
    readonly http: { readonly method: string }
  }
  readonly body?: string | undefined
  readonly isBase64Encoded: boolean
}

/** The answer to such an event. */
interface LambdaResult {
  readonly statusCode: number
  readonly headers: Record<string, string>
  readonly cookies: readonly string[]
  readonly body: string
  readonly isBase64Encoded: boolean
}

/** Answers an event with what a handler of web requests says. */
async function answerEvent(server: Mountable, event: LambdaEvent): Promise<LambdaResult> {
  const { rawPath, rawQueryString, headers, requestContext, body, isBase64Encoded } = event
  const query = rawQueryString === "" ? "" : `?${rawQueryString}`
  const request = new Request(`https://${requestContext.domainName}${rawPath}${query}`, {
    method: requestContext.http.method,
    headers,
    body: body === undefined ? null : isBase64Encoded ? Buffer.from(body, "base64") : body,
  })
  const response = await server.fetch(request)
  const cookies = response.headers.getSetCookie()
  response.headers.delete("set-cookie")
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    cookies,
    body: Buffer.from(await response.arrayBuffer()).toString("base64"),
    isBase64Encoded: true,
  }
}

function inLambda(name: string, isBase64Encoded: boolean): MountWay {
  return {
    name: `Lambda, ${name}`,
    prefix: "kept",
    streams: false,
    mount: (server) =>
      direct(async (request) => {
        const { pathname, search } = new URL(request.url)
        const bytes = request.body === null ? undefined : Buffer.from(await request.arrayBuffer())
        const result = await answerEvent(server, {
          rawPath: pathname,
          rawQueryString: search.slice(1),
          headers: Object.fromEntries(request.headers),
          requestContext: { domainName: "localhost", http: { method: request.method } },
          body: bytes?.toString(isBase64Encoded ? "base64" : "utf8"),
          isBase64Encoded,
        })
        const { statusCode } = result
        const headers = new Headers(result.headers)
        for (const cookie of result.cookies) headers.append("set-cookie", cookie)
        const isEmpty = statusCode === 204 || statusCode === 304
        const body = isEmpty ? null : Buffer.from(result.body, "base64")
        return new Response(body, { status: statusCode, headers })
      }),
  }
}

/** All ways that have to work alike. */
export const MOUNT_WAYS: readonly MountWay[] = [
  {
    name: "Node's http",
    prefix: "kept",
    streams: true,
    mount: (server) => listening(server.node),
  },
  inExpress("without a parser"),
  inExpress("express.json()", express.json({ strict: false })),
  inExpress("express.raw()", express.raw({ type: "*/*" })),
  inExpress("express.text()", express.text({ type: "*/*" })),
  inExpress("all parsers", express.json(), express.urlencoded(), express.raw(), express.text()),
  {
    name: "Express, a router in a router",
    prefix: "removed",
    streams: true,
    mount(server, path) {
      const app = express()
      const [, first = "", second = ""] = /^(\/[^/]+)?(\/.+)?$/.exec(path) ?? []
      const router = express.Router()
      router.use(second === "" ? "/" : second, server.node)
      app.use(first === "" ? "/" : first, router)
      return listening(app)
    },
  },
  {
    name: "Express, a route",
    prefix: "kept",
    streams: true,
    mount(server, path) {
      const app = express()
      app.all(`${path}/{*rest}`, server.node)
      return listening(app)
    },
  },
  inFastify("its own parser", true),
  inFastify("without a parser", false),
  inHono("mount()", "removed", (app, server, path) =>
    app.all(
      `${path}/*`,
      mount((request) => server.fetch(request)),
    ),
  ),
  inHono("app.mount()", "removed", (app, server, path) =>
    app.mount(path === "" ? "/" : path, server.fetch),
  ),
  inHono("a route", "kept", (app, server, path) =>
    app.route(
      path,
      new Hono().all("/*", (c) => server.fetch(c.req.raw)),
    ),
  ),
  inHono("a body that was read, passed on", "kept", (app, server, path) => {
    app.all(`${path}/*`, async (c) => {
      const body = await c.req.text()
      const request = body === "" ? c.req.raw : new Request(c.req.raw, { body })
      return await server.fetch(request)
    })
  }),
  inH3("app.mount()", "removed", (app, server, path) =>
    app.mount(path, (request: Request) => server.fetch(request)),
  ),
  inH3("a route", "kept", (app, server, path) =>
    app.all(`${path}/**`, (event) => server.fetch(event.req)),
  ),
  inH3("a handler of Node", "kept", (app, server, path) =>
    app.all(`${path}/**`, fromNodeHandler(server.node as never)),
  ),
  {
    name: "Next, a catch-all route",
    prefix: "kept",
    streams: true,
    mount(server) {
      const GET = (request: Request): Promise<Response> => server.fetch(request)
      return direct(GET)
    },
  },
  inLambda("text", false),
  inLambda("base64", true),
]

/** Ways in which the body is lost before the handler gets the request. */
export const LOSING_WAYS: readonly Pick<MountWay, "name" | "mount">[] = [
  {
    name: "Fastify, without passing on what its parser read",
    mount: (server) => fastifyWith((request, reply) => server.node(request.raw, reply.raw)),
  },
  {
    name: "Express, after code that reads the stream",
    mount(server) {
      const app = express()
      app.use((request, _response, next) => void request.on("data", () => {}).on("end", next))
      app.use(server.node)
      return listening(app)
    },
  },
  {
    name: "Express, after code that reads the stream and leaves an empty object",
    mount(server) {
      const app = express()
      app.use((request, _response, next) => {
        request.body = {}
        request.on("data", () => {}).on("end", next)
      })
      app.use(server.node)
      return listening(app)
    },
  },
  {
    name: "Hono, after c.req.json()",
    mount(server) {
      const app = new Hono()
      app.use(async (c, next) => {
        await c.req.json()
        await next()
      })
      app.all("/*", (c) => server.fetch(c.req.raw))
      return listening(getRequestListener(app.fetch))
    },
  },
  {
    name: "h3, after readBody()",
    mount(server) {
      const app = new H3()
      app.all("/**", async (event) => {
        await readBody(event)
        return await server.fetch(event.req)
      })
      return listening(toNodeHandler(app))
    },
  },
  {
    name: "Next, after request.json()",
    mount: (server) =>
      direct(async (request) => {
        await request.json()
        return await server.fetch(request)
      }),
  },
]
