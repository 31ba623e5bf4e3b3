import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, test } from "vitest"
import { silentLogger } from "../../../src/testing.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"
import { readBearerToken, toHTTP } from "../../../src/to-http.ts"
import type { Authenticate, HTTPServerOptions, MountHandler } from "../../../src/to-http.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import type { MCPServer, MCPServerOptions } from "../../../src/to-mcp.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"
import { answerOf, initialize, legacyRequest, rawRequest } from "../mcp/support/clients.ts"
import type { RawRequest } from "../mcp/support/clients.ts"
import { am, watch } from "../who/operations.ts"
import { deferred, useServers } from "./support.ts"

const { open, start, cleanups } = useServers()

/** A bearer token is the id of its caller; "until-5000-ada" ends at 5000. */
const authenticate: Authenticate = (request) => {
  const token = readBearerToken(request)
  const [, until, named] = /^until-(\d+)-(.*)$/.exec(token ?? "") ?? []
  const id = named ?? token
  if (id === undefined || id === "stranger") return undefined
  return { id, scopes: [], ...(until !== undefined && { expiresAt: Number(until) }) }
}

const as = (id: string): Record<string, string> => ({ authorization: `Bearer ${id}` })
const registry = createRegistry([am, watch]) as unknown as AnyRegistry
const callAm = { params: { name: "who_am", arguments: {} } }

function newMCP(options: MCPServerOptions = {}, of = registry): MCPServer {
  const mcp = toMCP(of, { logger: silentLogger, ...options })
  cleanups.push(() => mcp.close())
  return mcp
}

async function idOf(response: Response): Promise<unknown> {
  const { result } = await answerOf(response)
  return (result?.["structuredContent"] as { id?: unknown } | undefined)?.id
}

function withHeaders(request: RawRequest, headers: Record<string, string>): RawRequest {
  return { ...request, headers: { ...request.headers, ...headers } }
}

const modern = (id?: string): RawRequest =>
  rawRequest("tools/call", { ...callAm, headers: id === undefined ? {} : as(id) })

describe("a mount of a server that authenticates", () => {
  const page: MountHandler = (_, { identity }) => ({
    status: 200,
    headers: {},
    body: identity?.id ?? "anonymous",
  })
  const server = {
    fetch: () => Promise.resolve(new Response("fetch")),
    node: () => undefined,
  }

  test.each([
    ["a handler", page],
    ["a server of another kind", server],
    ["an MCP server in other clothes", { fetch: newMCPOf().fetch, node: newMCPOf().node }],
  ])("refuses to start when it does not say who may reach it: %s", (_, mount) => {
    expect(() => toHTTP(registry, { authenticate, mounts: { "/page": mount } })).toThrow(
      /mounts\["\/page"\] does not know its callers.*\{ mount, public: false \}/,
    )
  })

  test("refuses to start when it authenticates by itself as well", () => {
    const mounts = { "/mcp": newMCP({ authenticate: () => null }) }
    expect(() => toHTTP(registry, { authenticate, mounts })).toThrow(
      /mounts\["\/mcp"\] authenticates its callers, and so does this server. Remove authenticate/,
    )
    const same = { "/mcp": newMCP({ authenticate }) }
    expect(() => toHTTP(registry, { authenticate, mounts: same })).not.toThrow()
    const wrong = { "/page": { mount: page, public: "yes" as never } }
    expect(() => toHTTP(registry, { mounts: wrong })).toThrow(TypeError)
  })

  test("gets the caller when it is not public", async () => {
    const { url } = await start({
      authenticate,
      mounts: { "/page": { mount: page, public: false } },
    })
    expect((await fetch(`${url}/page`)).status).toBe(401)
    expect((await fetch(`${url}/page`, { headers: as("stranger") })).status).toBe(401)
    expect(await (await fetch(`${url}/page/below`, { headers: as("ada") })).text()).toBe("ada")
    const posted = { method: "POST", headers: as("ada"), body: "any text" }
    expect(await (await fetch(`${url}/page`, posted)).text()).toBe("ada")
  })

  test("gets the caller as a server, over fetch and over Node", async () => {
    const seen: unknown[] = []
    const mount = {
      fetch: (_: Request, caller?: { identity?: unknown }) => {
        seen.push(caller?.identity)
        return Promise.resolve(new Response("web"))
      },
      node: (
        _: unknown,
        response: { end(text?: string): unknown },
        caller?: { identity?: unknown },
      ) => {
        seen.push(caller?.identity)
        response.end("node")
      },
    }
    const options: HTTPServerOptions = {
      authenticate,
      logger: silentLogger,
      mounts: { "/other": { mount: mount as never, public: false } },
    }
    await using api = toHTTP(registry, options)
    const url = "http://localhost/other"
    expect((await api.fetch(new Request(url))).status).toBe(401)
    expect(await (await api.fetch(new Request(url, { headers: as("ada") }))).text()).toBe("web")
    const own = createServer(api.node)
    await new Promise<void>((resolve) => own.listen(0, "127.0.0.1", resolve))
    cleanups.push(() => own.close())
    const place = `http://127.0.0.1:${(own.address() as AddressInfo).port}/other`
    expect((await fetch(place)).status).toBe(401)
    expect(await (await fetch(place, { headers: as("bob") })).text()).toBe("node")
    expect(seen).toEqual([
      { id: "ada", scopes: [] },
      { id: "bob", scopes: [] },
    ])
  })

  test("is for everyone when it is public, from where requests may come", async () => {
    const mounts = { "/page": { mount: page, public: true } }
    const { url } = await start({ authenticate, mounts })
    expect(await (await fetch(`${url}/page`)).text()).toBe("anonymous")
    expect(await (await fetch(`${url}/page`, { headers: as("ada") })).text()).toBe("anonymous")
    const foreign = { headers: { origin: "https://evil.example" } }
    expect((await fetch(`${url}/page`, foreign)).status).toBe(403)
  })
})

/** An operation that has begun when `entered` resolves, and ends when `gate` is resolved. */
function slowRegistry(): {
  readonly registry: AnyRegistry
  readonly entered: ReturnType<typeof deferred>
  readonly gate: ReturnType<typeof deferred>
} {
  const [entered, gate] = [deferred(), deferred()]
  const handler = async (): Promise<{ id: string }> => {
    entered.resolve()
    await gate.promise
    return { id: "done" }
  }
  const slow = createRegistry([{ ...am, name: "slow", handler }])
  return { registry: slow, entered, gate }
}

function newMCPOf(): MCPServer {
  return toMCP(registry, { logger: silentLogger })
}

describe("an MCP server that is mounted", () => {
  test("keeps each session to the caller that has opened it", async () => {
    const { url } = await open(registry, { authenticate, mcp: newMCP() })
    const opened = await fetch(`${url}/mcp`, initialize(as("ada")))
    await opened.text()
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
    const call = legacyRequest("tools/call", callAm.params, session)
    const ask = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${url}/mcp`, withHeaders(call, headers))
    expect(await idOf(await ask(as("ada")))).toBe("ada")
    expect((await ask(as("bob"))).status).toBe(404)
    expect((await ask({})).status).toBe(401)
    const stream = { headers: { accept: "text/event-stream", ...session, ...as("bob") } }
    expect((await fetch(`${url}/mcp`, stream)).status).toBe(404)
    const end = { method: "DELETE", headers: { ...session, ...as("bob") } }
    expect((await fetch(`${url}/mcp`, end)).status).toBe(404)
    expect(await idOf(await ask(as("ada")))).toBe("ada")
  })

  test("sends clients without a token to the public resource metadata", async () => {
    const resourceMetadata = {
      resource: "https://api.example/mcp",
      authorization_servers: ["https://login.example"],
    }
    const mcp = newMCP({ resourceMetadata, requiredScopes: ["mcp"] })
    const { url } = await open(registry, { authenticate, mcp })
    const place = "https://api.example/.well-known/oauth-protected-resource/mcp"
    const refused = await fetch(`${url}/mcp`, modern())
    expect(refused.status).toBe(401)
    expect(refused.headers.get("www-authenticate")).toBe(
      `Bearer scope="mcp", resource_metadata="${place}"`,
    )
    expect(await refused.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32000 } })
    const wrong = await fetch(`${url}/mcp`, modern("stranger"))
    expect(wrong.headers.get("www-authenticate")).toContain('error="invalid_token"')
    const lacking = await fetch(`${url}/mcp`, modern("ada"))
    expect(lacking.status).toBe(403)
    expect(lacking.headers.get("www-authenticate")).toContain("insufficient_scope")
    for (const path of ["", "/mcp"]) {
      const found = await fetch(`${url}/.well-known/oauth-protected-resource${path}`)
      expect(await found.json()).toEqual(resourceMetadata)
    }
  })

  test("authenticates callers itself where the server does not, or it is public", async () => {
    for (const options of [
      { mcp: newMCP({ authenticate }) },
      { authenticate, mcp: { mount: newMCP({ authenticate }), public: true } },
    ]) {
      const { url } = await open(registry, options)
      expect((await fetch(`${url}/mcp`, modern())).status).toBe(401)
      expect(await idOf(await fetch(`${url}/mcp`, modern("ada")))).toBe("ada")
    }
  })

  test("gets the identity that the application hands to fetch", async () => {
    await using api = toHTTP(registry, { logger: silentLogger, mounts: { "/mcp": newMCP() } })
    const request = (): Request => new Request("http://localhost/mcp", modern())
    const eve = { id: "eve", scopes: [] }
    expect(await idOf(await api.fetch(request(), { identity: eve }))).toBe("eve")
    expect(await idOf(await api.fetch(request(), { identity: null }))).toBe("anonymous")
    expect(await idOf(await api.fetch(request()))).toBe("anonymous")
    const over = { ...eve, expiresAt: Date.now() - 1 }
    expect((await api.fetch(request(), { identity: over })).status).toBe(401)
  })

  test("answers where the server answers: hosts and origins are the server's", async () => {
    const { url } = await open(registry, { allowedOrigins: ["https://app.example"], mcp: newMCP() })
    const from = (origin: string): RawRequest => withHeaders(modern(), { origin })
    expect((await fetch(`${url}/mcp`, from("https://app.example"))).status).toBe(200)
    expect((await fetch(`${url}/mcp`, from("https://evil.example"))).status).toBe(403)
    const own = await open(registry, { mcp: newMCP({ allowedOrigins: ["https://app.example"] }) })
    expect((await fetch(`${own.url}/mcp`, from("https://app.example"))).status).toBe(403)
  })

  test("pays from the account that its callers have for all else", async () => {
    const clock = new VirtualClock()
    const rateLimit = { perSecond: 1, burst: 3 }
    const { url } = await open(registry, { authenticate, clock, rateLimit, mcp: newMCP() })
    const rest = (): Promise<Response> => fetch(`${url}/api/who/am`, { headers: as("ada") })
    expect((await rest()).status).toBe(200)
    expect((await fetch(`${url}/mcp`, modern("ada"))).status).toBe(200)
    expect((await rest()).status).toBe(200)
    const limited = await fetch(`${url}/mcp`, modern("ada"))
    expect(limited.status).toBe(429)
    expect(limited.headers.get("retry-after")).toBe("1")
    expect(await limited.json()).toMatchObject({ jsonrpc: "2.0" })
    expect((await rest()).status).toBe(429)
    expect((await fetch(`${url}/mcp`, modern("bob"))).status).toBe(200)
  })

  test.each(["legacy", "modern"])("ends open streams with the credential: %s", async (era) => {
    const clock = new VirtualClock()
    const sse = { maxStreams: 1 }
    const { url } = await open(registry, { authenticate, clock, sse, mcp: newMCP() })
    const ada = as("until-5000-ada")
    let listening: RequestInit = rawRequest("subscriptions/listen", {
      params: { notifications: { toolsListChanged: true } },
      headers: ada,
    })
    if (era === "legacy") {
      const opened = await fetch(`${url}/mcp`, initialize(ada))
      await opened.text()
      const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
      listening = { headers: { accept: "text/event-stream", ...session, ...ada } }
    }
    const stream = await fetch(`${url}/mcp`, listening)
    expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream"])
    expect((await fetch(`${url}/mcp`, listening)).status).toBe(429)
    let isOver = false
    const over = stream.text().then(() => (isOver = true))
    await clock.advance(4999)
    expect(isOver).toBe(false)
    await clock.advance(1)
    await over
    expect((await fetch(`${url}/mcp`, listening)).status).toBe(401)
  })

  test.each(["legacy", "modern"])(
    "ends running calls that are answered as a stream with the credential: %s",
    async (era) => {
      const clock = new VirtualClock()
      const entered = deferred()
      const aborted = deferred()
      const slow = {
        ...am,
        name: "slow",
        handler: async (_: object, { signal }: { signal: AbortSignal }) => {
          entered.resolve()
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
          aborted.resolve()
          return { id: "late" }
        },
      }
      const of = createRegistry([slow]) as unknown as AnyRegistry
      const { url } = await open(of, { authenticate, clock, mcp: newMCP({ keepAliveMs: 20 }, of) })
      const ada = as("until-5000-ada")
      const params = { name: "who_slow", arguments: {} }
      let call = rawRequest("tools/call", { params, headers: ada })
      if (era === "legacy") {
        const opened = await fetch(`${url}/mcp`, initialize(ada))
        await opened.text()
        const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
        call = legacyRequest("tools/call", params, { ...session, ...ada })
      }
      const answering = fetch(`${url}/mcp`, call)
      await entered.promise
      const response = await answering
      await clock.advance(4999)
      await clock.advance(1)
      const text = await response.text()
      await aborted.promise
      expect(response.status).toBe(200)
      expect(text).toMatch(/"id":1,.*credential has expired/)
      expect(text).toContain('"mayHaveExecuted":true')
      expect(text).not.toContain("late")
    },
  )

  test("lets a call finish whose credential expires while it runs: a refused client would repeat it", async () => {
    const clock = new VirtualClock()
    const { registry: of, entered, gate } = slowRegistry()
    const { url } = await open(of, { authenticate, clock, mcp: newMCP({}, of) })
    const params = { name: "who_slow", arguments: {} }
    const call = rawRequest("tools/call", { params, headers: as("until-5000-ada") })
    const answering = fetch(`${url}/mcp`, call)
    await entered.promise
    await clock.advance(6000)
    gate.resolve()
    const response = await answering
    expect(response.status).toBe(200)
    expect(await idOf(response)).toBe("done")
    expect((await fetch(`${url}/mcp`, call)).status).toBe(401)
  })

  test("does not end calls that were made with a newer credential", async () => {
    const clock = new VirtualClock()
    const { registry: of, entered, gate } = slowRegistry()
    const { url } = await open(of, { authenticate, clock, mcp: newMCP({}, of) })
    const opened = await fetch(`${url}/mcp`, initialize(as("until-5000-ada")))
    await opened.text()
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
    const headers = { ...session, ...as("until-9000-ada") }
    const params = { name: "who_slow", arguments: {} }
    const answering = fetch(`${url}/mcp`, legacyRequest("tools/call", params, headers))
    await entered.promise
    await clock.advance(6000)
    gate.resolve()
    expect(await idOf(await answering)).toBe("done")
  })

  test("finishes what runs when the server closes, and takes nothing new", async () => {
    const { registry: waiting, entered, gate } = slowRegistry()
    const api = await open(waiting, { drainMs: 60_000, mcp: newMCP({}, waiting) })
    const params = { name: "who_slow", arguments: {} }
    const call = fetch(`${api.url}/mcp`, rawRequest("tools/call", { params }))
    await entered.promise
    const closing = api.close()
    const late = await fetch(`${api.url}/mcp`, rawRequest("tools/call", { params }))
    expect(late.status).toBe(503)
    gate.resolve()
    expect(await idOf(await call)).toBe("done")
    await closing
  })
})

describe("a mounted handler may return", () => {
  const bytes = new Uint8Array([0, 255, 10, 13])
  const streamed = (): Response => {
    const parts = ["one ", "two"].map((text) => new TextEncoder().encode(text))
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const part = parts.shift()
        if (part === undefined) controller.close()
        else controller.enqueue(part)
      },
    })
    return new Response(body, { status: 201, headers: { "x-own": "yes" } })
  }
  const returned = {
    "a Response with text": () => new Response("text"),
    "a promise of a Response": () => Promise.resolve(new Response("text")),
    "a Response with bytes": () => new Response(bytes),
    "a Response with a stream": streamed,
    "a Response with cookies": () => {
      const response = new Response("text", { headers: { "set-cookie": "a=1; Path=/" } })
      response.headers.append("set-cookie", "b=2; Expires=Wed, 18 Nov 2026 00:00:00 GMT")
      return response
    },
    "a Response without a body": () => new Response(null, { status: 204 }),
    "an answer": () => ({ status: 200, headers: {}, body: "text" }),
    "an answer without headers": () => ({ status: 200, body: "text" }) as never,
  } satisfies Readonly<Record<string, MountHandler>>
  const wrong = {
    nothing: () => undefined as never,
    "a text": () => "text" as never,
    "an object without a status": () => ({ body: "text" }) as never,
    "a status that does not exist": () => ({ status: 1000, headers: {} }),
  } satisfies Readonly<Record<string, MountHandler>>

  /** A server on a port, and the same API as a function. */
  async function both(mount: MountHandler) {
    const lines: unknown[][] = []
    const error = (...line: unknown[]): void => void lines.push(line)
    const options = { mounts: { "/page": mount }, logger: { ...silentLogger, error } }
    const { url } = await start(options)
    const api = toHTTP(registry, options)
    cleanups.push(() => api.close())
    const ask = {
      "on a port": () => fetch(`${url}/page`),
      "as a function": () => api.fetch(new Request("http://localhost/page")),
    }
    return { ask: Object.entries(ask), lines }
  }

  test.each(Object.entries(returned))("%s", async (_, mount) => {
    const expected = await (mount as () => unknown)()
    const plain = expected instanceof Response ? expected : new Response("text")
    const body = Buffer.from(await plain.arrayBuffer())
    const { ask } = await both(mount)
    for (const [way, send] of ask) {
      const response = await send()
      const { status, headers } = response
      const seen = { way, status, own: headers.get("x-own"), type: headers.get("content-type") }
      const type = expected instanceof Response ? plain.headers.get("content-type") : seen.type
      expect(seen).toEqual({ way, status: plain.status, own: plain.headers.get("x-own"), type })
      expect(headers.getSetCookie()).toEqual(plain.headers.getSetCookie())
      expect(Buffer.from(await response.arrayBuffer())).toEqual(body)
    }
  })

  test.each(Object.entries(wrong))("but %s is a 500, and a line in the log", async (_, mount) => {
    const { ask, lines } = await both(mount)
    for (const [, send] of ask) {
      const response = await send()
      expect(response.status).toBe(500)
      expect(await response.json()).toMatchObject({ code: "EXECUTION_ERROR" })
    }
    expect(lines).toHaveLength(2)
    expect(String(lines.map((line) => JSON.stringify(line, errorsToText)))).toContain(
      'The handler of mounts[\\"/page\\"] returned',
    )
  })
})

const errorsToText = (_: string, value: unknown): unknown =>
  value instanceof Error ? value.message : value
