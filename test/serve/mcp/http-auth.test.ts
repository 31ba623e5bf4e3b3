import { describe, expect, test } from "vitest"
import type { Identity, Logger } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { readBearerToken, toMCP } from "../../../src/to-mcp.ts"
import type { Authenticate, MCPServerOptions } from "../../../src/to-mcp.ts"
import { thrown } from "../../support/operations.ts"
import { answerOf, connect, initialize, rawRequest } from "./support/clients.ts"
import { fixture } from "./support/fixture.ts"

const PEOPLE: Readonly<Record<string, Identity>> = {
  "token-of-ada": { id: "ada", scopes: ["secret", "mcp"] },
  "token-of-bob": { id: "bob", scopes: [] },
}

const authenticate: Authenticate = (request) => PEOPLE[readBearerToken(request) ?? ""]

const call = (name: string, headers: Record<string, string> = {}): Request =>
  new Request(
    "http://localhost/mcp",
    rawRequest("tools/call", { params: { name, arguments: {} }, headers }),
  )

async function challengeOf(
  options: MCPServerOptions,
  headers: Record<string, string> = {},
): Promise<[number, string | null]> {
  await using server = toMCP(fixture().registry, { logger: silentLogger, ...options })
  const response = await server.fetch(call("demo_look", headers))
  return [response.status, response.headers.get("www-authenticate")]
}

describe("authentication", () => {
  test("asks those without a token for one", async () => {
    expect(await challengeOf({ authenticate })).toEqual([401, "Bearer"])
  })

  test("says that a token is not accepted, and nothing about it", async () => {
    const headers = { Authorization: "Bearer stolen-token" }
    expect(await challengeOf({ authenticate }, headers)).toEqual([
      401,
      'Bearer error="invalid_token"',
    ])
  })

  test("takes an identity only until it ends", async () => {
    const headers = { Authorization: "Bearer anything" }
    const until =
      (expiresAt: number): Authenticate =>
      () => ({ ...PEOPLE["token-of-ada"]!, expiresAt })
    await using server = toMCP(fixture().registry, { authenticate: until(Date.now() + 60_000) })
    expect((await server.fetch(call("demo_look", headers))).status).toBe(200)
    expect(await challengeOf({ authenticate: until(Date.now() - 1) }, headers)).toEqual([
      401,
      'Bearer error="invalid_token"',
    ])
  })

  test("sends unauthenticated clients to the metadata, with the required scopes", async () => {
    const resourceMetadata = {
      resource: "https://example.com/mcp",
      authorization_servers: ["https://auth.example.com"],
    }
    const requiredScopes = ["mcp"]
    expect(await challengeOf({ authenticate, resourceMetadata, requiredScopes })).toEqual([
      401,
      'Bearer scope="mcp", resource_metadata="https://example.com/.well-known/oauth-protected-resource/mcp"',
    ])
    await using server = toMCP(fixture().registry, { authenticate, resourceMetadata })
    for (const path of ["", "/mcp"]) {
      const url = `http://whatever/.well-known/oauth-protected-resource${path}`
      const response = await server.fetch(new Request(url, { headers: { Origin: "https://app" } }))
      expect(await response.json()).toEqual(resourceMetadata)
    }
    const posted = await server.fetch(
      new Request("http://localhost/.well-known/oauth-protected-resource", { method: "POST" }),
    )
    expect(posted.status).toBe(405)
    expect(
      thrown(() =>
        toMCP(fixture().registry, {
          resourceMetadata: { resource: "x", authorization_servers: [] },
        }),
      ),
    ).toBeInstanceOf(TypeError)
  })

  test("refuses those without the scopes that everyone needs", async () => {
    const headers = { Authorization: "Bearer token-of-bob" }
    const options = { authenticate, requiredScopes: ["mcp"] }
    expect(await challengeOf(options, headers)).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="mcp"',
    ])
    const allowed = { Authorization: "Bearer token-of-ada" }
    expect(await challengeOf(options, allowed)).toEqual([200, null])
  })

  test.each([
    [
      "throws",
      () => {
        throw new Error("the database is gone")
      },
    ],
    ["rejects", () => Promise.reject(new Error("the database is gone"))],
    ["gives something else", () => "ada" as never],
    ["gives scopes that are no strings", () => ({ id: "ada", scopes: [1] }) as never],
    ["never answers", () => new Promise<never>(() => undefined)],
  ])("refuses when authenticate %s", async (_, broken: Authenticate) => {
    const [status] = await challengeOf({ authenticate: broken, authenticateTimeout: 20 })
    expect(status).toBe(401)
  })

  test("admits anonymous callers with null", async () => {
    await using server = toMCP(fixture().registry, { authenticate: () => null })
    const { result } = await answerOf(await server.fetch(call("demo_look")))
    expect(result?.["structuredContent"] ?? result?.["content"]).toBeDefined()
  })

  test.each(["legacy", "modern"] as const)(
    "shows each caller of the %s era what is theirs, and hands on no token",
    async (era) => {
      const { registry, seen } = fixture()
      const lines: string[] = []
      const note = (message: string, fields?: unknown): void =>
        void lines.push(`${message} ${JSON.stringify(fields)}`)
      const logger: Logger = { debug: note, info: note, warn: note, error: note }
      await using server = toMCP(registry, { authenticate, logger })
      await using listening = await server.listen({ port: 0 })
      for (const [token, { id, scopes }] of Object.entries(PEOPLE)) {
        const headers = { Authorization: `Bearer ${token}` }
        await using client = await connect(listening.url, era, { headers })
        const { tools } = await client.listTools()
        const hasSecret = tools.some(({ name }) => name === "demo_secret")
        expect(hasSecret).toBe(scopes.includes("secret"))
        await client.callTool({ name: "demo_look", arguments: {} })
        expect(seen.contexts.at(-1)?.identity).toEqual({ id, scopes })
        const isCalled = await client
          .callTool({ name: "demo_secret", arguments: {} })
          .then(() => true)
          .catch(() => false)
        expect(isCalled).toBe(hasSecret)
        const context = seen.contexts.at(-1)
        expect(JSON.stringify([context?.identity, context?.metadata])).not.toContain(token)
        expect(lines.join("\n")).not.toContain(token)
      }
    },
  )

  test("takes the word of an application that has checked already", async () => {
    const { registry, seen } = fixture()
    await using server = toMCP(registry, { authenticate: () => undefined })
    await server.fetch(call("demo_look"), { identity: { id: "eve", scopes: ["a"] } })
    expect(seen.contexts[0]?.identity).toEqual({ id: "eve", scopes: ["a"] })
    const authInfo = { clientId: "client", scopes: ["b"], token: "passed-on" }
    await server.fetch(call("demo_look"), { authInfo })
    expect(seen.contexts[1]?.identity).toEqual({ id: "client", scopes: ["b"] })
    await server.fetch(call("demo_look"), { authInfo: { ...authInfo, extra: { sub: "ada" } } })
    expect(seen.contexts[2]?.identity?.id).toBe("ada")
  })

  test("asks again for every request of a session", async () => {
    let isIn = true
    await using server = toMCP(fixture().registry, {
      authenticate: () => (isIn ? { id: "ada", scopes: [] } : undefined),
    })
    const opened = await server.fetch(new Request("http://localhost/", initialize()))
    expect(opened.status).toBe(200)
    isIn = false
    const headers = {
      Accept: "text/event-stream",
      "Mcp-Session-Id": opened.headers.get("mcp-session-id") ?? "",
    }
    expect((await server.fetch(new Request("http://localhost/", { headers }))).status).toBe(401)
  })
})
