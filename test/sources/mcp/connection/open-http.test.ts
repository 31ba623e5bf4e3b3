import { describe, expect, test, vi } from "vitest"
import { resolveServer } from "../../../../src/sources/mcp/config-resolve.ts"
import type { MCPClientConfig, MCPHttpChannel } from "../../../../src/sources/mcp/config.ts"
import { REQUEST_TOKEN_HEADER } from "../../../../src/sources/mcp/client/framed-transport.ts"
import type { RunningRequest } from "../../../../src/sources/mcp/client/running-request.ts"
import { makeHttp } from "../../../../src/sources/mcp/client/open-http.ts"
import type { SdkModule, TransportLike } from "../../../../src/sources/mcp/client/sdk.ts"
import { failure } from "./support.ts"

interface Parts extends Partial<MCPClientConfig> {
  readonly kind?: "http" | "sse"
  readonly answer?: () => Response
}

/** The `fetch` that a transport would be made with, and what it sends. */
function guarded({ kind = "http", answer, ...config }: Parts = {}) {
  const sent: { readonly headers: Headers; readonly redirect: unknown }[] = []
  const settled = resolveServer("srv", {
    url: "https://api.example.com/mcp",
    fetch: async (_input: unknown, init?: RequestInit) => {
      sent.push({ headers: new Headers(init?.headers), redirect: init?.redirect })
      return answer?.() ?? new Response("{}")
    },
    ...config,
  })
  const exchanges = new Map<number, Partial<RunningRequest>>()
  const broken = vi.fn()
  const secrets: string[] = []
  const made: { readonly kind: string; readonly options: Record<string, unknown> }[] = []
  const transport = (name: string) =>
    class {
      readonly name = name

      constructor(_url: URL, options: unknown) {
        made.push({ kind: name, options: options as Record<string, unknown> })
      }
    } as unknown as new (url: URL, options: unknown) => TransportLike
  makeHttp(
    {
      Client: undefined as never,
      ProtocolError: undefined as never,
      StreamableHTTPClientTransport: transport("http"),
      SSEClientTransport: transport("sse"),
    } satisfies SdkModule,
    kind,
    {
      server: settled,
      channel: settled.channel as MCPHttpChannel,
      exchange: (token) => {
        const one = exchanges.get(token)
        return one && (Object.assign(one, { request: {} }) as RunningRequest)
      },
      broken,
      secret: (value) => secrets.push(value),
    },
  )
  const [options] = made
  const fetch = options?.options["fetch"] as typeof globalThis.fetch
  return { fetch, sent, exchanges, broken, secrets, options }
}

const HOME = "https://api.example.com/mcp"

describe("requests to the server itself", () => {
  test("carry the user's headers, but where the protocol has its own", async () => {
    const { fetch, sent, secrets } = guarded({
      headers: { authorization: "Bearer hunter2", accept: "mine" },
    })

    await fetch(HOME, { headers: { accept: "theirs", [REQUEST_TOKEN_HEADER]: "4" } })

    expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual({
      authorization: "Bearer hunter2",
      accept: "theirs",
    })
    expect(secrets).toContain("hunter2")
    expect(sent[0]?.redirect).toBeUndefined()
  })

  test("may be given as requests, whose headers count", async () => {
    const { fetch, sent } = guarded({ headers: () => ({ "x-mine": "1" }) })

    await fetch(new Request(HOME, { headers: { "x-theirs": "2" } }))

    expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual({ "x-mine": "1", "x-theirs": "2" })
  })

  test("are not sent with a header that HTTP does not allow", async () => {
    const { fetch, sent } = guarded({ headers: () => ({ "x-mine": "two\nlines" }) })

    expect(await failure(fetch(HOME))).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(sent).toEqual([])
  })

  test("are told when to come again", async () => {
    const one = guarded({
      answer: () => new Response("", { status: 429, headers: { "retry-after": "2" } }),
    })
    const bare = guarded({ answer: () => new Response("", { status: 503 }) })
    const [limited, unlimited] = [{ retryAfterMs: undefined }, { retryAfterMs: 5 }]
    one.exchanges.set(4, limited)
    bare.exchanges.set(4, unlimited)

    for (const { fetch } of [one, bare])
      await fetch(HOME, { headers: { [REQUEST_TOKEN_HEADER]: "4" } })

    expect(limited.retryAfterMs).toBe(2000)
    expect(unlimited.retryAfterMs).toBeUndefined()
  })
})

describe("requests elsewhere", () => {
  test("at its origin carry no credentials of the user's, and are not sent on", async () => {
    const { fetch, sent } = guarded({ headers: { "x-api-key": "hunter2", "x-mine": "1" } })

    await fetch("https://api.example.com/token", { method: "POST" })
    await fetch("https://api.example.com/other", { redirect: "manual" })

    expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual({ "x-mine": "1" })
    expect(sent.map(({ redirect }) => redirect)).toEqual(["error", "manual"])
  })

  test("at another origin carry nothing of the user's", async () => {
    const { fetch, sent } = guarded({ headers: { "x-mine": "1" } })
    await fetch("https://login.example.org/token")
    expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual({})
  })

  test.each([
    "https://10.0.0.1/",
    "http://169.254.169.254/latest",
    "https://metadata.google.internal/",
    "ftp://login.example.org/",
  ])("to %s are not made", async (url) => {
    const { fetch, sent } = guarded()
    expect(await failure(fetch(url))).toMatchObject({ code: "EGRESS_BLOCKED" })
    expect(sent).toEqual([])
  })

  test("within a private network are made by a server that is in it", async () => {
    const near = guarded({ url: "http://10.0.0.1/mcp" })

    await near.fetch("http://10.0.0.2/token")
    await near.fetch("http://10.0.0.1:8080/token")

    expect(near.sent).toHaveLength(2)
    expect(await failure(near.fetch("http://169.254.169.254/"))).toMatchObject({
      code: "EGRESS_BLOCKED",
    })
  })
})

describe("what anyone on the way could read", () => {
  const plain = { url: "http://api.example.com/mcp" }

  test("is no header with a credential", async () => {
    const { fetch, sent } = guarded({ ...plain, headers: { authorization: "Bearer x" } })
    expect((await failure(fetch(plain.url))).message).toContain('the header "authorization"')
    expect(sent).toEqual([])
  })

  test("is no parameter with one", async () => {
    const { fetch } = guarded(plain)
    expect((await failure(fetch(`${plain.url}?api_key=x`))).message).toContain(
      'the parameter "api_key"',
    )
  })

  test("may be anything else, parameters of tools included", async () => {
    const { fetch, sent } = guarded(plain)
    await fetch(plain.url, { headers: { "mcp-param-token": "1", "idempotency-key": "2" } })
    expect(sent).toHaveLength(1)
  })
})

describe("an answer that is too large", () => {
  const answer = (): Response => new Response("x".repeat(50))

  test("fails the request that it was for", async () => {
    const { fetch, exchanges, broken } = guarded({ answer, maxMessageBytes: 10 })
    const failed = vi.fn()
    exchanges.set(4, { failed })

    const response = await fetch(HOME, { headers: { [REQUEST_TOKEN_HEADER]: "4" } })
    const error = await failure(response.text())

    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: true })
    expect(failed).toHaveBeenCalledExactlyOnceWith(error)
    expect(broken).not.toHaveBeenCalled()
  })

  test("is the end of the one stream of the old transport", async () => {
    const { fetch, broken, options } = guarded({ kind: "sse", answer, maxMessageBytes: 10 })

    const error = await failure((await fetch(HOME)).text())

    expect(options?.kind).toBe("sse")
    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: false })
    expect(broken).toHaveBeenCalledExactlyOnceWith(error)
  })

  test("matters to nobody else where nobody waits", async () => {
    const { fetch, broken } = guarded({ answer, maxMessageBytes: 10 })
    expect(await failure((await fetch(HOME)).text())).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
    expect(broken).not.toHaveBeenCalled()
  })

  test("may also be one with new tokens", async () => {
    const token = async (): Promise<string> => "t"
    const { fetch, options } = guarded({ answer, maxMessageBytes: 10, authProvider: { token } })
    const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: "r" })

    const error = await failure(fetch("https://login.example.org/token", { method: "POST", body }))

    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
    expect(options?.options).toHaveProperty("authProvider")
  })
})

test("without a `fetch` of the user's the platform's is used", async () => {
  const platform = vi.fn(async () => new Response("{}"))
  vi.stubGlobal("fetch", platform)
  try {
    const { fetch } = guarded({ fetch: undefined })
    expect(await (await fetch(HOME)).text()).toBe("{}")
    expect(platform).toHaveBeenCalledOnce()
  } finally {
    vi.unstubAllGlobals()
  }
})
