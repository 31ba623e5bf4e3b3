// Headers that depend on who calls; a session that one caller opened is never used for another.
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { createMCPClient } from "../../../../src/from-mcp.ts"
import type { MCPClientConfig, MCPClientWrapper } from "../../../../src/from-mcp.ts"
import type { CredentialContext } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/internal/logger.ts"
import { quietRegistry, rejection } from "../../../support/operations.ts"
import { serveAwkward } from "../awkward/http.ts"
import type { AwkwardHttp } from "../awkward/http.ts"

const USERS = Array.from({ length: 10 }, (_, at) => `user-${at}`)

async function headersOf({ identity }: CredentialContext): Promise<Record<string, string>> {
  for (let turn = 0; turn < (identity?.id.length ?? 0) % 3; turn++) await Promise.resolve()
  return { Authorization: `Bearer token-of-${identity?.id ?? "hub"}` }
}

async function clientOf(
  remote: AwkwardHttp,
  headers: NonNullable<MCPClientConfig["headers"]>,
): Promise<MCPClientWrapper> {
  const client = await createMCPClient("far", { url: remote.url, logger: silentLogger, headers })
  onTestFinished(() => client.close())
  return client
}

/** Whose token came with each call of the tool, by the text that was to be echoed. */
function callsOf(remote: AwkwardHttp): Map<unknown, unknown> {
  const calls = remote.requests.filter(({ message }) => message?.method === "tools/call")
  return new Map(
    calls.map(({ message, headers }) => {
      const input = message?.params?.["arguments"] as { text?: unknown } | undefined
      return [input?.text, headers.authorization]
    }),
  )
}

describe.each(["legacy", "modern"] as const)("headers by caller, in the %s era", (era) => {
  test("are those of each of many callers at once, in sessions of their own", async () => {
    await using remote = await serveAwkward({ era })
    const client = await clientOf(remote, headersOf)
    const registry = quietRegistry(client.tools)
    const call = async (user: string): Promise<unknown> =>
      await registry.execute("far.echo", { text: user }, { identity: { id: user, scopes: [] } })
    await Promise.all([...USERS, ...USERS].map(call))
    await client.client.callTool(
      "echo",
      { text: "direct" },
      { identity: { id: "ada", scopes: [] } },
    )
    await registry.execute("far.echo", { text: "nobody" })

    const expected = new Map<unknown, unknown>(
      USERS.map((user) => [user, `Bearer token-of-${user}`]),
    )
    expected.set("direct", "Bearer token-of-ada").set("nobody", "Bearer token-of-hub")
    expect(callsOf(remote)).toEqual(expected)
    const owners = new Map<unknown, Set<unknown>>()
    for (const { headers } of remote.requests) {
      const session = headers["mcp-session-id"]
      if (session === undefined) continue
      owners.set(session, (owners.get(session) ?? new Set()).add(headers.authorization))
    }
    expect([...owners.values()].every(({ size }) => size === 1)).toBe(true)
  })

  test.each([
    ["that has a session", "ada"],
    ["that has none yet", "bob"],
  ])("a server that is away is lost after the first failed call of a caller %s", async (_, id) => {
    const remote = await serveAwkward({ era })
    const client = await clientOf(remote, headersOf)
    const call = async (who: string): Promise<unknown> =>
      await client.client.callTool("echo", {}, { identity: { id: who, scopes: [] } })
    await call("ada")
    expect(client.status().status).toBe("ready")
    await remote[Symbol.asyncDispose]()

    expect(await rejection(call(id))).toMatchObject({ code: "UNAVAILABLE" })
    expect(client.status()).toMatchObject({ status: "lost", error: { code: "UNAVAILABLE" } })
    expect(JSON.stringify(client.status())).not.toContain("token-of")
  })

  test("go with a call that is sent again after its session was forgotten", async () => {
    await using remote = await serveAwkward({ era, expired: 404 })
    const client = await clientOf(remote, headersOf)
    const call = async (text: string, id: string): Promise<unknown> =>
      await client.client.callTool("echo", { text }, { identity: { id, scopes: [] } })
    await call("before", "ada")
    remote.expire()
    await Promise.all([call("a", "ada"), call("b", "bob")])

    expect(callsOf(remote)).toEqual(
      new Map([
        ["before", "Bearer token-of-ada"],
        ["a", "Bearer token-of-ada"],
        ["b", "Bearer token-of-bob"],
      ]),
    )
  })

  test("may be functions by name, which receive the caller, the operation and a signal", async () => {
    await using remote = await serveAwkward({ era })
    const seen: CredentialContext[] = []
    const client = await clientOf(remote, {
      "X-Fixed": "1",
      "X-User": (context) => {
        seen.push(context)
        return context.identity?.id
      },
    })
    const identity = { id: "ada", scopes: ["a"] }
    await quietRegistry(client.tools).execute("far.echo", { text: "x" }, { identity })
    const call = remote.requests.find(({ message }) => message?.method === "tools/call")

    expect(call?.headers).toMatchObject({ "x-fixed": "1", "x-user": "ada" })
    expect(remote.requests[0]?.headers).not.toHaveProperty("x-user")
    expect(seen[0]).toMatchObject({ identity: undefined, operationId: undefined })
    expect(seen.at(-1)).toEqual({
      identity,
      operationId: "far.echo",
      signal: expect.any(AbortSignal) as unknown,
    })
  })

  test("that fail end the call, without a word of what was thrown", async () => {
    await using remote = await serveAwkward({ era })
    const client = await clientOf(remote, ({ identity }) => {
      if (identity !== undefined) throw new Error("canary-1")
      return {}
    })
    const calling = client.client.callTool("echo", {}, { identity: { id: "ada", scopes: [] } })
    const error = await rejection(calling)

    expect(error).toMatchObject({ code: "UNAUTHENTICATED" })
    expect(JSON.stringify(error)).not.toContain("canary-1")
    expect(callsOf(remote).size).toBe(0)
  })
})

test("headers that are the same for all callers share one session", async () => {
  await using remote = await serveAwkward({ era: "legacy" })
  const client = await clientOf(remote, { Authorization: "Bearer one" })
  const registry = quietRegistry(client.tools)
  await Promise.all(
    USERS.map((id) => registry.execute("far.echo", { text: id }, { identity: { id, scopes: [] } })),
  )

  expect(remote.requests.filter(({ message }) => message?.method === "initialize")).toHaveLength(1)
})

test.each([
  ["legacy", USERS.length + 1],
  ["modern", 0],
] as const)("sessions of callers with a %s server over HTTP", async (era, sessions) => {
  await using remote = await serveAwkward({ era })
  const client = await createMCPClient("far", {
    url: remote.url,
    logger: silentLogger,
    sessions: "caller",
  })
  onTestFinished(() => client.close())
  const registry = quietRegistry(client.tools)
  const call = async (id: string): Promise<unknown> =>
    await registry.execute("far.echo", { text: id }, { identity: { id, scopes: [] } })
  await Promise.all([...USERS, ...USERS].map(call))
  await registry.execute("far.echo", { text: "nobody" })

  const owners = new Map<unknown, Set<unknown>>()
  for (const { headers, message } of remote.requests) {
    const session = headers["mcp-session-id"]
    if (session === undefined || message?.method !== "tools/call") continue
    const input = message.params?.["arguments"] as { readonly text?: string } | undefined
    const text = input?.text
    owners.set(session, (owners.get(session) ?? new Set()).add(text))
  }
  expect(owners.size).toBe(sessions)
  expect([...owners.values()].every(({ size }) => size === 1)).toBe(true)
})

test("sessions of callers need a transport that can be created again", async () => {
  const transport = { start: vi.fn(), send: vi.fn(), close: vi.fn() }
  const error = await rejection(createMCPClient("far", { transport, sessions: "caller" }))
  expect(error).toMatchObject({
    code: "VALIDATION_ERROR",
    message: expect.stringContaining(
      `"sessions" "caller" needs "transport" as a function`,
    ) as unknown,
  })
  expect(transport.start).not.toHaveBeenCalled()
})
