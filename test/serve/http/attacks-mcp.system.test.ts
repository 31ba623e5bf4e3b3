import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { createMCPClient } from "../../../src/from-mcp.ts"
import { defineOperation } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { answerOf, initialize, legacyRequest, rawRequest } from "../mcp/support/clients.ts"
import type { RawRequest } from "../mcp/support/clients.ts"
import { base, demo, post, raw, useServers } from "./support.ts"

const { open, cleanups } = useServers()

/** A registry under `/mcp`; answers come in another order than they were asked for. */
async function serveMCP(): Promise<string> {
  let next = 0
  const registry = createRegistry([
    defineOperation({
      ...base,
      name: "echo",
      type: "query",
      inputSchema: Type.Object({ value: Type.Optional(Type.String()) }),
      outputSchema: Type.Object({ value: Type.Optional(Type.String()) }),
      async handler(input) {
        for (let turns = next++ % 7; turns > 0; turns--) {
          await new Promise((resolve) => {
            setImmediate(resolve)
          })
        }
        return input
      },
    }),
  ]) as unknown as AnyRegistry
  const mcp = toMCP(registry, { logger: silentLogger, expose: { mode: "all" } })
  cleanups.push(() => mcp.close())
  const api = await open(registry, { mcp })
  return api.url
}

/** Runs calls, so many at a time. */
async function atOnce(
  count: number,
  most: number,
  run: (at: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) await run(next++)
  }
  await Promise.all(Array.from({ length: most }, work))
}

describe("clients that count alike (SV25)", () => {
  /** Asks with the id that the others use as well. */
  function asking(
    url: string,
    request: (params: Record<string, unknown>) => RawRequest,
    name: string,
    wrong: string[],
  ): (at: number) => Promise<void> {
    return async (at) => {
      const value = `${name} ${at}`
      const { body, ...rest } = request({ name: "demo_echo", arguments: { value } })
      const message = { ...(JSON.parse(body) as object), id: at }
      const response = await fetch(`${url}/mcp`, { ...rest, body: JSON.stringify(message) })
      const answer = await answerOf(response)
      const got = (answer.result?.["structuredContent"] as { value?: unknown } | undefined)?.value
      if (answer.id !== at || got !== value) wrong.push(`${value}: ${JSON.stringify(answer)}`)
    }
  }

  test("get 2,000 answers, each its own, in sessions and without", async () => {
    const url = await serveMCP()
    const wrong: string[] = []
    const clients = await Promise.all(
      ["a", "b"].map(async (name) => {
        const opened = await fetch(`${url}/mcp`, initialize())
        await opened.text()
        const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
        const request = (params: Record<string, unknown>): RawRequest =>
          legacyRequest("tools/call", params, session)
        return asking(url, request, name, wrong)
      }),
    )
    await Promise.all(clients.map((ask) => atOnce(500, 20, ask)))
    const modern = ["c", "d"].map((name) =>
      asking(url, (params) => rawRequest("tools/call", { params }), name, wrong),
    )
    await Promise.all(modern.map((ask) => atOnce(500, 20, ask)))
    expect(wrong).toEqual([])
  })

  test("as our own client does", async () => {
    const url = await serveMCP()
    const wrappers = await Promise.all(
      ["a", "b"].map(async (name) => {
        const wrapper = await createMCPClient(name, { url: `${url}/mcp`, logger: silentLogger })
        cleanups.push(() => wrapper.close())
        return wrapper
      }),
    )
    const wrong: unknown[] = []
    const calls = wrappers.map(({ client }, index) =>
      atOnce(100, 20, async (at) => {
        const value = `${index} ${at}`
        const { data } = await client.callTool("demo_echo", { value })
        if ((data as { value?: unknown }).value !== value) wrong.push({ value, data })
      }),
    )
    await Promise.all(calls)
    expect(wrong).toEqual([])
  })
})

describe("addresses and patterns that explode (SV30)", () => {
  const LONG = 50 * 1024
  const PATTERNS: readonly (readonly [string, string])[] = [
    ["one long name", "x".repeat(LONG)],
    ["many segments", "a/".repeat(LONG / 2)],
    ["exploded templates", "{/id*}".repeat(LONG / 6)],
    ["escaped templates", "%7B%3Fx*%7D".repeat(LONG / 11)],
    ["lists", `${"a,".repeat(LONG / 2)}!`],
    ["escapes", "%2e%2E%25".repeat(LONG / 9)],
    ["escapes that are none", "%".repeat(LONG)],
    ["dots", "../".repeat(LONG / 3)],
    ["stars", `${"*".repeat(LONG - 1)}!`],
  ]

  test.each(PATTERNS)("in the path: %s", async (_, pattern) => {
    const url = await serveMCP()
    for (const path of ["/mcp/", "/api/", "/api/demo/", "/operations/", "/ws/"]) {
      const bytes = `POST ${path}${pattern} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`
      expect(await raw(url, bytes)).toMatch(/^HTTP\/1\.1 (?:414|431) /)
      const short = `POST ${path}${pattern.slice(0, 8000)} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`
      expect(await raw(url, short)).toMatch(/^HTTP\/1\.1 4\d\d /)
    }
    expect((await post(`${url}/api/demo/echo`, {})).status).toBe(200)
  })

  test.each(PATTERNS)("in web requests, which nobody has cut: %s", async (_, pattern) => {
    const { registry, seen } = demo()
    const mcp = toMCP(registry, { logger: silentLogger })
    await using api = toHTTP(registry, { logger: silentLogger, mounts: { "/mcp": mcp } })
    for (const path of ["/mcp/", "/api/", "/api/demo/", "/operations/", "/operations?query="]) {
      const request = new Request(`http://localhost${path}${pattern}`)
      const answer = await api.fetch(request)
      // Dots lead to the root, which says what there is.
      const isRoot = new URL(request.url).pathname === "/"
      expect(answer.status).toBeGreaterThanOrEqual(isRoot ? 200 : 400)
      expect(answer.status).toBeLessThan(500)
      expect((await answer.text()).length).toBeLessThan(5000)
    }
    expect(seen.runs).toBe(0)
    await mcp.close()
  })

  test.each(PATTERNS)("in what is asked of MCP: %s", async (_, pattern) => {
    const url = await serveMCP()
    const opened = await fetch(`${url}/mcp`, initialize())
    await opened.text()
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
    const asked: readonly (readonly [string, Record<string, unknown>])[] = [
      ["resources/read", { uri: `demo://${pattern}` }],
      ["resources/subscribe", { uri: pattern }],
      ["completion/complete", completion(pattern)],
      ["prompts/get", { name: pattern }],
      ["tools/call", { name: pattern, arguments: {} }],
      ["tools/list", { cursor: pattern }],
      [pattern, {}],
    ]
    for (const [method, params] of asked) {
      const legacy = await fetch(`${url}/mcp`, legacyRequest(method, params, session))
      const { error, result } = await answerOf(legacy)
      expect(error !== undefined || result?.["isError"] === true).toBe(true)
      const { headers, ...rest } = rawRequest(method.slice(0, 100), { params })
      // What a header says has to fit in one.
      const named = { ...headers, "Mcp-Name": String(headers["Mcp-Name"] ?? "").slice(0, 100) }
      const modern = await fetch(`${url}/mcp`, { ...rest, headers: named })
      expect(modern.status).toBeLessThan(500)
      await modern.text()
    }
    expect((await post(`${url}/api/demo/echo`, {})).status).toBe(200)
  })
})

function completion(uri: string): Record<string, unknown> {
  return { ref: { type: "ref/resource", uri }, argument: { name: "id", value: uri } }
}
