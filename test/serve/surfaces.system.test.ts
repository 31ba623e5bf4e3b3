import { createServer } from "node:http"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { SignJWT, exportJWK, generateKeyPair } from "jose"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createHub } from "../../src/hub/create-hub.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { silentLogger } from "../../src/testing.ts"
import { serveHTTP } from "../../src/node.ts"
import { createRegistry } from "../../src/engine/registry.ts"
import type { AnyRegistry } from "../../src/engine/registry.ts"
import { hashApiKey, toHTTP } from "../../src/to-http.ts"
import type { AuthOptions } from "../../src/to-http.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { SURFACES } from "./surface-table.ts"
import type { Ask, Headers, Place } from "./surface-table.ts"
import { am, watch } from "./who/operations.ts"
import { configOf, sourceOf } from "../hub/plain.ts"

const KEY = "key-of-ada-0123456789"
const SHORT = "key-of-bob-0123456789"
const ISSUER = "https://login.example"
/** An origin whose pages may call. */
const APP = "https://app.example"
const AUDIENCE = "https://api.example"

/** Endpoints that only tell what there is. */
const DESCRIPTIONS = ["/operations", "/openapi.json"]
const OF_A_HUB = [
  "/hub/operations",
  "/hub/search",
  "/hub/complete/{id}",
  "/hub/sources",
  "/hub/sources/{name}",
  "/hub/sources/{name}/reopen",
  "/hub/sources/{name}/report",
  "/hub/approvals",
  "/hub/approvals/test",
  "/hub/approvals/{id}",
  "/hub/tools",
  "/hub/calls",
  "/hub/load",
  "/hub/timelines",
  "/hub/policies",
  "/hub/stats",
  "/metrics",
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
  const options = { auth, logger: silentLogger, cors: { origins: [APP] } }
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
        cors: { origins: [APP] },
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
})

afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
})

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

  test("refuses requests caused by pages of other origins, also with credentials", async () => {
    for (const site of ["cross-site", "same-site"]) {
      for (const mode of ["navigate", "no-cors", "cors"]) {
        const caused = { "x-api-key": KEY, "sec-fetch-site": site, "sec-fetch-mode": mode }
        expect([mode, await ask(caused)]).toEqual([mode, 403])
        expect([mode, await ask({ ...caused, origin: "https://evil.example" })]).toEqual([
          mode,
          403,
        ])
      }
      const allowed = { "x-api-key": KEY, "sec-fetch-site": site, origin: APP }
      expect(await ask(allowed)).toBe("ada")
    }
  })

  test("answers its own pages, and the user who enters an address", async () => {
    for (const site of ["same-origin", "none"]) {
      expect(await ask({ "x-api-key": KEY, "sec-fetch-site": site })).toBe("ada")
    }
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

  test("refuses navigations from other origins at every endpoint", async () => {
    const { url, fetch: send } = places.get(server) as Place
    for (const path of ["/", ...DESCRIPTIONS, ...OF_A_HUB, "/nowhere", "/mcp/below"]) {
      for (const site of ["cross-site", "same-site"]) {
        const caused = { "sec-fetch-site": site, "sec-fetch-mode": "navigate" }
        const { status } = await send(url + path, { headers: { "x-api-key": KEY, ...caused } })
        expect(`${path} ${status}`).toBe(`${path} 403`)
      }
    }
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
