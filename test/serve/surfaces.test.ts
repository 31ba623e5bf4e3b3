import { createServer } from "node:http"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { SignJWT, exportJWK, generateKeyPair } from "jose"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import { createHub } from "../../src/hub/create-hub.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { silentLogger } from "../../src/index.ts"
import { serveHTTP } from "../../src/node/index.ts"
import { createRegistry } from "../../src/registry.ts"
import type { AnyRegistry } from "../../src/registry.ts"
import { hashApiKey, toHTTP } from "../../src/to_http.ts"
import type { AuthOptions } from "../../src/to_http.ts"
import { toMCP } from "../../src/to_mcp.ts"
import { clientOf } from "./mcp/support/clients.ts"
import type { Era } from "./mcp/support/clients.ts"
import { am, watch } from "./who/operations.ts"
import { configOf, sourceOf } from "../hub/plain.ts"

const KEY = "key-of-ada-0123456789"
const SHORT = "key-of-bob-0123456789"
const ISSUER = "https://login.example"
const AUDIENCE = "https://api.example"

type Headers = Readonly<Record<string, string>>

/** Somewhere to call: a server, or a function that answers in place of one. */
interface Place {
  readonly url: string
  readonly fetch: typeof fetch
}

/** One way in: asks who calls, and gives the id, or the status with which it was refused. */
type Ask = (place: Place, headers: Headers) => Promise<string | number>

const json = { "content-type": "application/json" }
const events = { accept: "text/event-stream" }
const call = { id: "who.am", input: {} }

/** Asks with one request; `find` gets the id out of a body. */
function request(path: string, init: RequestInit, find: (body: string) => string | undefined): Ask {
  return async ({ url, fetch: send }, headers) => {
    const sent = { ...init, headers: { ...(init.headers as Headers), ...headers } }
    const response = await send(url + path, sent)
    const text = await response.text()
    return response.status === 200 ? (find(text) ?? text) : response.status
  }
}

const idIn = (body: string): string | undefined => /"id":"([^"]*)"/.exec(body)?.[1]

const mcp =
  (era: Era): Ask =>
  async ({ url, fetch: send }, headers) => {
    const client = clientOf(era)
    let refused: number | undefined
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers },
      fetch: async (input, init) => {
        const response = await send(input, init)
        if (response.status === 401) {
          refused = response.status
          expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/)
        }
        return response
      },
    })
    try {
      await client.connect(transport)
      const { structuredContent } = await client.callTool({ name: "who_am", arguments: {} })
      return (structuredContent as { id: string }).id
    } catch (error) {
      if (refused === undefined) throw error
      return refused
    } finally {
      await client.close()
    }
  }

const webSocket: Ask = async ({ url }, headers) => {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers })
  try {
    return await new Promise<string | number>((resolve, reject) => {
      socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode ?? 0))
      socket.on("error", reject)
      socket.on("open", () =>
        socket.send(
          JSON.stringify({
            type: "call.requested",
            requestId: "1",
            operationId: "who.am",
            input: {},
          }),
        ),
      )
      socket.on("message", (data: Buffer) => {
        if (String(data).includes("call.")) resolve(idIn(String(data)) ?? String(data))
      })
    })
  } finally {
    socket.terminate()
  }
}

const REST = "/api/{namespace}/{name}"
const GATEWAY = "/operations/{id}"
const posted = { method: "POST", headers: json, body: "{}" }

/** Every way to call an operation, and the endpoint that it is. */
const SURFACES: Readonly<Record<string, readonly [endpoint: string, ask: Ask]>> = {
  "REST by GET": [REST, request("/api/who/am", {}, idIn)],
  "REST by POST": [REST, request("/api/who/am", posted, idIn)],
  "REST events": [REST, request("/api/who/watch", { headers: events }, idIn)],
  gateway: [GATEWAY, request("/operations/who.am", posted, idIn)],
  "gateway events": [GATEWAY, request("/operations/who.watch", { headers: events }, idIn)],
  batch: ["/batch", request("/batch", { ...posted, body: JSON.stringify([call]) }, idIn)],
  "MCP, sessions": ["/mcp", mcp("legacy")],
  "MCP, single requests": ["/mcp", mcp("modern")],
  WebSocket: ["/ws", webSocket],
}

/** Endpoints that only tell what there is. */
const DESCRIPTIONS = ["/operations", "/openapi.json"]
const OF_A_HUB = [
  "/hub/operations",
  "/hub/sources",
  "/hub/sources/{name}/report",
  "/hub/stats",
  "/hub/events",
]

let issuer: Server
let auth: AuthOptions
let sign: (expiresInSeconds: number) => Promise<string>
const places = new Map<string, Place>()
const cleanups: (() => unknown)[] = []

beforeAll(async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256")
  const jwk = { ...(await exportJWK(publicKey)), kid: "1", alg: "ES256" }
  issuer = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] })))
  const jwks = await listen(issuer)
  sign = async (seconds) =>
    await new SignJWT({ sub: "tess", scope: "" })
      .setProtectedHeader({ alg: "ES256", kid: "1" })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .sign(privateKey)
  auth = {
    apiKeys: [
      { hash: hashApiKey(KEY), identity: { id: "ada", scopes: [] } },
      { hash: hashApiKey(SHORT), id: "bob" },
    ],
    jwt: { jwks, issuer: ISSUER, audience: AUDIENCE, algorithms: ["ES256"] },
  }
  const options = { auth, logger: silentLogger }
  const registry = createRegistry([am, watch]) as unknown as AnyRegistry
  const newMCP = (): ReturnType<typeof toMCP> => {
    const server = toMCP(registry, { logger: silentLogger })
    cleanups.push(() => server.close())
    return server
  }

  const served = await serveHTTP(registry, { ...options, port: 0, mcp: newMCP() })
  cleanups.push(() => served.close())
  places.set("serveHTTP", { url: served.url, fetch })

  const web = toHTTP(registry, { ...options, mounts: { "/mcp": newMCP() } })
  cleanups.push(() => web.close())
  places.set("toHTTP().fetch", {
    url: "http://localhost",
    fetch: (input, init) => web.fetch(new Request(input, init)),
  })

  const node = toHTTP(registry, { ...options, mounts: { "/mcp": newMCP() } })
  cleanups.push(() => node.close())
  places.set("toHTTP().node", { url: await listen(createServer(node.node)), fetch })

  const hub = createHub(
    configOf([sourceOf("who", { scan: `${import.meta.dirname}/who` })], {
      server: {
        apiKeys: [
          { hash: hashApiKey(KEY), identity: { id: "ada", scopes: [] } },
          { hash: hashApiKey(SHORT), id: "bob" },
        ],
        jwt: { jwksUrl: jwks, issuer: ISSUER, audience: AUDIENCE, algorithms: ["ES256"] },
      },
    }),
    { logger: silentLogger },
  )
  await hub.ready()
  const servedHub = await serveHub(hub, { port: 0, console: false })
  cleanups.push(
    () => hub.close(),
    () => servedHub.close(),
  )
  places.set("serveHub", { url: servedHub.url, fetch })
}, 120_000)

afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
}, 120_000)

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Only servers with a port of their own have WebSockets. */
const SERVERS: Readonly<Record<string, readonly string[]>> = {
  serveHTTP: Object.keys(SURFACES),
  "toHTTP().fetch": Object.keys(SURFACES).filter((name) => name !== "WebSocket"),
  "toHTTP().node": Object.keys(SURFACES).filter((name) => name !== "WebSocket"),
  serveHub: Object.keys(SURFACES),
}

const cases = Object.entries(SERVERS).flatMap(([server, surfaces]) =>
  surfaces.map((surface) => [server, surface] as const),
)

describe.each(cases)("%s, %s", (server, surface) => {
  const ask = (headers: Headers): Promise<string | number> =>
    (SURFACES[surface] as readonly [string, Ask])[1](places.get(server) as Place, headers)

  test("refuses a caller without a key", async () => {
    expect(await ask({})).toBe(401)
  })

  test("refuses a wrong key", async () => {
    expect(await ask({ "x-api-key": "key-of-nobody-0123456789" })).toBe(401)
    expect(await ask({ authorization: "Bearer key-of-nobody-0123456789" })).toBe(401)
  })

  test("refuses a token that has expired", async () => {
    expect(await ask({ authorization: `Bearer ${await sign(-60)}` })).toBe(401)
  })

  test("runs the operation for whom a key or a token stands", async () => {
    expect(await ask({ "x-api-key": KEY })).toBe("ada")
    expect(await ask({ "x-api-key": SHORT })).toBe("bob")
    expect(await ask({ authorization: `Bearer ${KEY}` })).toBe("ada")
    expect(await ask({ authorization: `Bearer ${await sign(600)}` })).toBe("tess")
  })
})

describe.each(Object.keys(SERVERS))("%s", (server) => {
  test("lists the endpoints that this table covers, and no others", async () => {
    const { url, fetch: send } = places.get(server) as Place
    const response = await send(`${url}/`, { headers: { "x-api-key": KEY } })
    const { endpoints } = (await response.json()) as { endpoints: { path: string }[] }
    const covered = new Set([
      ...(SERVERS[server] as readonly string[]).map((name) => SURFACES[name]?.[0]),
      ...DESCRIPTIONS,
      ...(server === "serveHub" ? OF_A_HUB : []),
    ])
    expect(new Set(endpoints.map(({ path }) => path))).toEqual(covered)
  })

  test("asks who calls at every endpoint", async () => {
    const { url, fetch: send } = places.get(server) as Place
    for (const path of ["/", ...DESCRIPTIONS, ...OF_A_HUB, "/nowhere", "/mcp/below"]) {
      for (const headers of [{}, { authorization: `Bearer ${await sign(-60)}` }]) {
        const { status } = await send(url + path, { headers })
        expect(`${path} ${status}`).toBe(`${path} 401`)
      }
    }
  })
})
