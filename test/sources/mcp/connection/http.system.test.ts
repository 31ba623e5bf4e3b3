import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, test } from "vitest"
import type { MCPToolDefinition } from "../../../../src/mcp/model.ts"
import { serveAwkward } from "../awkward/http.ts"
import { definitionOf, failure, open, textOf, until } from "./support.ts"
import { TOO_LONG } from "../../../support/patience.ts"

const initializations = (remote: { requests: readonly { message: unknown }[] }): number =>
  remote.requests.filter(
    ({ message }) => (message as { method?: string } | undefined)?.method === "initialize",
  ).length

describe("a session", () => {
  test.each([404, 400] as const)(
    "that was forgotten (%i) is opened anew once for all, and calls are sent again",
    async (expired) => {
      await using remote = await serveAwkward({ era: "legacy", expired })
      await using server = open({ url: remote.url })
      await server.call("echo", { text: "before" })
      remote.expire()

      const texts = await Promise.all(
        ["a", "b", "c", "d"].map(async (text) => textOf(await server.call("echo", { text }))),
      )

      expect(texts).toEqual(["a", "b", "c", "d"])
      expect(initializations(remote)).toBe(2)
      expect(server.connection.status.restarts).toBe(1)
      expect(server.events).toEqual([
        { type: "connected", isAgain: false },
        { type: "connected", isAgain: true },
      ])
    },
  )

  test.each(["legacy", "modern"] as const)(
    "whose server is away is lost after the first call that fails (%s)",
    async (era) => {
      const remote = await serveAwkward({ era })
      await using server = open({ url: remote.url })
      await server.call("echo", { text: "before" })
      expect(server.connection.status.state).toBe("ready")
      await remote[Symbol.asyncDispose]()

      expect(await failure(server.call("echo"))).toMatchObject({ code: "UNAVAILABLE" })
      expect(server.connection.status.state).not.toBe("ready")
      expect(server.events.map(({ type }) => type)).toContain("lost")
    },
  )

  test("that is forgotten again and again is an error", async () => {
    await using remote = await serveAwkward({ era: "legacy" })
    await using server = open({ url: remote.url })
    await server.connection.connect()
    remote.faults.refuse = { status: 404, times: 100, methods: ["tools/call"] }

    expect(await failure(server.call("echo"))).toMatchObject({ code: "UNAVAILABLE" })
    expect(initializations(remote)).toBe(2)
  })

  test("is ended when the connection is closed", async () => {
    await using remote = await serveAwkward({ era: "legacy" })
    const server = open({ url: remote.url })
    await server.connection.connect()

    await server.connection.close()

    expect(remote.requests.at(-1)).toMatchObject({
      method: "DELETE",
      headers: { "mcp-session-id": expect.any(String) as unknown },
    })
  })

  test("of a server that does not listen to its end is left after a second", async () => {
    await using remote = await serveAwkward({ era: "legacy" })
    const slow: typeof fetch = async (url, init) => {
      if (init?.method === "DELETE") {
        await new Promise((_resolve, reject) => {
          init.signal?.addEventListener("abort", () => reject(new Error("aborted")))
        })
      }
      return await fetch(url, init)
    }
    const server = open({ url: remote.url, fetch: slow })
    await server.connection.connect()
    const started = Date.now()

    await server.connection.close()

    expect(Date.now() - started).toBeLessThan(TOO_LONG)
  })
})

describe.each(["legacy", "modern"] as const)("a %s server over HTTP", (era) => {
  test("that drops the stream of a call", async () => {
    await using remote = await serveAwkward({ era, dropCalls: 1 })
    await using server = open({ url: remote.url })

    const error = await failure(server.call("echo", { text: "lost" }))

    expect(error).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
    expect(textOf(await server.call("echo", { text: "next" }))).toBe("next")
    remote.faults.dropCalls++
    const again = await server.call("echo", { text: "again" }, { isRepeatable: true })
    expect(textOf(again)).toBe("again")
  })

  test("that wants to be asked later is, where that does no harm", async () => {
    await using remote = await serveAwkward({ era })
    await using server = open({ url: remote.url })
    await server.connection.connect()
    const refuse = { status: 503, headers: { "retry-after": "1" }, methods: ["tools/call"] }
    remote.faults.refuse = { ...refuse, times: 1 }
    const started = Date.now()

    const result = await server.call("echo", { text: "later" }, { isRepeatable: true })

    expect(textOf(result)).toBe("later")
    expect(Date.now() - started).toBeGreaterThan(900)
  })

  test.each([
    [503, "UNAVAILABLE"],
    [429, "RATE_LIMITED"],
  ])("that answers %i is not asked again for what may change something", async (status, code) => {
    await using remote = await serveAwkward({ era })
    await using server = open({ url: remote.url })
    await server.connection.connect()
    const headers = { "retry-after": "30" }
    remote.faults.refuse = { status, headers, times: 9, methods: ["tools/call"] }

    const error = await failure(server.call("echo"))
    const late = failure(
      server.call("echo", {}, { isRepeatable: true, deadline: Date.now() + 5000 }),
    )

    expect(error).toMatchObject({ code, retryAfterMs: 30_000, mayHaveExecuted: false })
    expect(await late).toMatchObject({ code, retryAfterMs: 30_000 })
  })

  test("names who issues its tokens, if it says so at its own address, and nothing else", async () => {
    let issuer = "https://login.example/tenant?x=1"
    let metadata = ""
    const guarded = createServer((request, response) => {
      if (request.url?.includes("oauth-protected-resource") === true) {
        response.end(JSON.stringify({ authorization_servers: [issuer] }))
        return
      }
      const challenge = `Bearer resource_metadata="${metadata}"`
      response.writeHead(401, { "www-authenticate": challenge }).end()
    })
    await new Promise<void>((resolve) => guarded.listen(0, "127.0.0.1", resolve))
    const { port } = guarded.address() as AddressInfo
    const origin = `http://127.0.0.1:${port}`
    const messageOf = async (): Promise<string> => {
      await using client = open({ url: `${origin}/mcp`, era })
      return (await failure(client.connection.connect())).message
    }
    try {
      metadata = `${origin}/.well-known/oauth-protected-resource`
      expect(await messageOf()).toContain("with a token of https://login.example/tenant)")
      issuer = "javascript:alert(1)"
      expect(await messageOf()).toContain("with a token that it or its provider issues")
      issuer = "https://login.example"
      metadata = "http://127.0.0.1:9/.well-known/oauth-protected-resource"
      expect(await messageOf()).toContain("with a token that it or its provider issues")
    } finally {
      guarded.closeAllConnections()
      await new Promise<void>((resolve) => void guarded.close(() => resolve()))
    }
  })

  test("that wants other credentials", async () => {
    await using remote = await serveAwkward({ era, token: "right-and-secret" })
    await using without = open({ url: remote.url })
    await using wrong = open({
      url: remote.url,
      headers: { Authorization: "Bearer wrong-and-secret" },
    })
    await using right = open({
      url: remote.url,
      authProvider: { token: async () => "right-and-secret" },
    })

    expect(await failure(without.connection.connect())).toMatchObject({ code: "UNAUTHENTICATED" })
    const error = await failure(wrong.connection.connect())
    expect(error.code).toBe("UNAUTHENTICATED")
    expect(JSON.stringify(error)).not.toContain("wrong-and-secret")
    expect(await right.ask("add", { a: 1, b: 1 })).toEqual({ sum: 2 })
  })

  test("that denies a call", async () => {
    await using remote = await serveAwkward({ era, scope: "tools:write" })
    await using server = open({ url: remote.url })

    expect(await failure(server.call("echo"))).toMatchObject({ code: "ACCESS_DENIED" })
  })

  test("gets the user's headers, read anew for each request", async () => {
    await using remote = await serveAwkward({ era })
    let count = 0
    await using server = open({
      url: remote.url,
      headers: async () => ({ "x-count": `${++count}` }),
    })

    await server.call("echo")
    await server.call("echo")

    const counts = remote.requests.map(({ headers }) => Number(headers["x-count"]))
    expect(new Set(counts).size).toBe(counts.length)
    expect(remote.requests.some(({ headers }) => "x-operations-request" in headers)).toBe(false)
  })

  test("may send on within its origin, and no further", async () => {
    await using remote = await serveAwkward({ era, redirect: "/elsewhere" })
    await using other = await serveAwkward({ era })
    await using within = open({ url: remote.url, headers: { "x-api-key": "secret-key" } })
    await within.connection.connect().catch(() => {})
    remote.faults.redirect = `${other.url}?stolen=1`
    await using beyond = open({ url: remote.url, headers: { "x-api-key": "secret-key" } })

    const error = await failure(beyond.connection.connect())

    expect(error.message).not.toContain("stolen")
    expect(other.requests).toEqual([])
    expect(remote.requests.some(({ url }) => url === "/elsewhere")).toBe(true)
  })

  test("is told when a call is given up, and keeps no stream open for it", async () => {
    await using remote = await serveAwkward({ era, noGet: true })
    await using server = open({ url: remote.url, timeout: 300 })
    await server.connection.connect()

    await failure(server.call("hang"))

    await until(() => remote.peer.cancelled.length > 0)
    expect(remote.peer.cancelled).toHaveLength(1)
  })

  test("tells of changed lists", async () => {
    await using remote = await serveAwkward({ era })
    await using server = open({ url: remote.url })
    await server.connection.connect()

    // A notice before the stream is there is lost; another one is not.
    await until(() => {
      remote.peer.change("one_more", undefined)
      return server.events.some(({ type }) => type === "changed")
    })

    expect(server.events).toContainEqual({ type: "changed", kind: "tools" })
  })
})

describe("parameters that are sent as headers", () => {
  test("are, and tools that say it wrongly are left out", async () => {
    await using remote = await serveAwkward({
      era: "modern",
      groups: "headers",
      strictHeaders: true,
    })
    await using server = open({ url: remote.url })

    const { items, warnings } = await server.connection.list("tools")

    const tools = items as MCPToolDefinition[]
    const mirrored = tools.filter(({ inputSchema }) =>
      JSON.stringify(inputSchema).includes("x-mcp-header"),
    )
    expect(mirrored.length).toBeGreaterThan(0)
    expect(warnings.length).toBeGreaterThan(0)
    expect(warnings[0]).toContain("is left out")
    expect(tools.filter(({ name }) => name.startsWith("bad_header_"))).toEqual([])
    await server.connection.callTool(
      await definitionOf(server.connection, "region"),
      { region: "eu-west" },
      {},
    )
    expect(remote.requests.at(-1)?.headers["mcp-param-region"]).toBe("eu-west")
  })

  test("matter to HTTP only", async () => {
    await using remote = await serveAwkward({ era: "legacy", groups: "headers" })
    await using server = open({ url: remote.url })

    expect((await server.connection.list("tools")).warnings).toEqual([])
  })
})

describe("where credentials go", () => {
  test("not over plain HTTP to another machine", async () => {
    const sent: unknown[] = []
    const spy: typeof fetch = async (url) => {
      sent.push(url)
      return new Response(null, { status: 500 })
    }
    await using server = open({
      url: "http://mcp.example.com/mcp",
      headers: { Authorization: "Bearer secret-token" },
      fetch: spy,
    })

    const error = await failure(server.connection.connect())

    expect(error).toMatchObject({ code: "EGRESS_BLOCKED" })
    expect(error.message).toContain("https")
    expect(error.message).not.toContain("secret-token")
    expect(sent).toEqual([])
  })

  test("not to an authorization server that an MCP server names", async () => {
    await using remote = await serveAwkward({ era: "legacy", token: "t" })
    const seen: { url: string; headers: unknown }[] = []
    const other = createServer((request, response) => {
      seen.push({ url: request.url ?? "", headers: request.headers })
      response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
    const { port } = other.address() as AddressInfo
    const metadata = `http://127.0.0.1:${port}/.well-known/oauth-protected-resource`
    const challenge: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      if (response.status !== 401) return response
      const headers = { "www-authenticate": `Bearer resource_metadata="${metadata}"` }
      return new Response(null, { status: 401, headers })
    }
    await using server = open({
      url: remote.url,
      headers: { "x-api-key": "secret-api-key" },
      fetch: challenge,
      authProvider: oauthProvider([]),
    })

    await failure(server.connection.connect())
    await new Promise<void>((resolve) => {
      other.closeAllConnections()
      other.close(() => resolve())
    })

    expect(seen.length).toBeGreaterThan(0)
    expect(JSON.stringify(seen)).not.toContain("secret-api-key")
  })

  test("pages to sign in at are opened only when they are pages", async () => {
    const opened: string[] = []
    const authorization = { issuer: "", authorization_endpoint: "" }
    const oauth = createServer((request, response) => {
      const origin = `http://${request.headers.host}`
      response.setHeader("content-type", "application/json")
      if (request.url?.includes("oauth-protected-resource") === true) {
        response.end(JSON.stringify({ resource: `${origin}/mcp`, authorization_servers: [origin] }))
      } else if (request.url?.includes("authorization-server") === true) {
        response.end(
          JSON.stringify({
            ...authorization,
            issuer: origin,
            authorization_endpoint: "file:///bin/sh",
            token_endpoint: `${origin}/token`,
            response_types_supported: ["code"],
            code_challenge_methods_supported: ["S256"],
          }),
        )
      } else {
        response.setHeader(
          "www-authenticate",
          `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
        )
        response.writeHead(401).end("{}")
      }
    })
    await new Promise<void>((resolve) => oauth.listen(0, "127.0.0.1", resolve))
    const { port } = oauth.address() as AddressInfo
    await using server = open({
      url: `http://127.0.0.1:${port}/mcp`,
      authProvider: oauthProvider(opened),
    })

    await failure(server.connection.connect())
    await new Promise<void>((resolve) => {
      oauth.closeAllConnections()
      oauth.close(() => resolve())
    })

    expect(opened).toEqual([])
  })
})

test("tokens that can be used once are renewed once, however many calls need new ones", async () => {
  await using remote = await serveAwkward({ era: "legacy", token: "access-1" })
  const { origin } = new URL(remote.url)
  let tokens = {
    access_token: "access-1",
    refresh_token: "refresh-1",
    token_type: "Bearer",
    issuer: origin,
  }
  const refreshed: string[] = []
  const issuer: typeof fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString()
    if (url.includes("oauth-protected-resource")) {
      return Response.json({ resource: remote.url, authorization_servers: [origin] })
    }
    if (url.includes("oauth-authorization-server")) {
      return Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
      })
    }
    if (!url.endsWith("/token")) return await fetch(input, init)
    const used = refreshTokenOf(init?.body)
    if (refreshed.includes(used)) return Response.json({ error: "invalid_grant" }, { status: 400 })
    refreshed.push(used)
    const next = refreshed.length + 1
    remote.faults.token = `access-${next}`
    return Response.json({
      ...tokens,
      access_token: `access-${next}`,
      refresh_token: `refresh-${next}`,
    })
  }
  const authProvider = {
    ...oauthProvider([]),
    clientInformation: () => ({ client_id: "client", issuer: origin }),
    tokens: () => tokens,
    saveTokens(saved: typeof tokens) {
      tokens = saved
    },
  }
  await using server = open({ url: remote.url, fetch: issuer, authProvider })
  await server.connection.connect()
  remote.faults.token = "revoked"

  const texts = await Promise.all(
    ["a", "b", "c", "d", "e"].map(async (text) => textOf(await server.call("echo", { text }))),
  )

  expect(texts).toEqual(["a", "b", "c", "d", "e"])
  expect(refreshed).toEqual(["refresh-1"])
  expect(tokens.refresh_token).toBe("refresh-2")
})

function refreshTokenOf(body: unknown): string {
  return (body as URLSearchParams).get("refresh_token") ?? ""
}

function oauthProvider(opened: string[]) {
  return {
    redirectUrl: "http://127.0.0.1/callback",
    clientMetadata: { redirect_uris: ["http://127.0.0.1/callback"] },
    clientInformation: () => ({ client_id: "client" }),
    tokens: () => undefined,
    saveTokens() {},
    redirectToAuthorization(url: URL) {
      opened.push(url.href)
    },
    saveCodeVerifier() {},
    codeVerifier: () => "verifier",
  }
}

test("a whole list of tools keeps what is odd about them", async () => {
  await using remote = await serveAwkward({ era: "legacy", groups: "names,schemas,duplicates" })
  await using server = open({ url: remote.url })

  const { items } = await server.connection.list("tools")
  const echo = await definitionOf(server.connection, "echo")

  expect(items.length).toBeGreaterThan(45)
  expect(echo.inputSchema).toBeDefined()
})
