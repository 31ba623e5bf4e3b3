// API keys and scopes that a reload takes away: they stop working at once, and what they opened ends.
import { describe, expect, onTestFinished, test } from "vitest"
import { WebSocket } from "ws"
import { silentLogger } from "../../src/testing.ts"
import { createHub, serveHub } from "../../src/node.ts"
import type { Hub, ServedHub } from "../../src/node.ts"
import { hashApiKey } from "../../src/to-http.ts"
import type { ApiKeyConfig } from "../../src/config/model.ts"
import { connect, rawRequest } from "../serve/mcp/support/clients.ts"
import { operation } from "../support/operations.ts"
import { configOf } from "./plain.ts"

const KEYS = { ada: "a-key-of-ada-0123456789", eve: "a-key-of-eve-0123456789" }
const ADMIN = ["own:read", "hub:admin"]

function keyOf(id: keyof typeof KEYS, scopes: readonly string[]): ApiKeyConfig {
  return { hash: hashApiKey(KEYS[id]), id, scopes: [...scopes] }
}

const BEFORE = [keyOf("ada", ADMIN), keyOf("eve", ADMIN)]
/** Reloads that take something away from eve. */
const RELOADS = {
  "a key that was removed": { keys: [keyOf("ada", ADMIN)], status: 401 },
  "a scope that was removed": { keys: [keyOf("ada", ADMIN), keyOf("eve", [])], status: 403 },
}

interface Opened {
  readonly hub: Hub
  readonly served: ServedHub
  readonly reload: (keys: readonly ApiKeyConfig[]) => Promise<void>
}

async function openHub(): Promise<Opened> {
  const configWith = (apiKeys: readonly ApiKeyConfig[]) =>
    configOf([], { server: { port: 0, apiKeys: [...apiKeys] } })
  const hub = createHub(configWith(BEFORE), { logger: silentLogger })
  const accessControl = { requiredScopes: ["own:read"] }
  hub.registry.registerAll([
    operation("own.hello", { accessControl, handler: () => ({ text: "hello" }) }),
    operation("own.ticks", {
      accessControl,
      type: "subscription",
      handler: async function* () {
        yield 1
        await new Promise(() => undefined)
      },
    }),
  ])
  const served = await serveHub(hub)
  onTestFinished(async () => {
    await served.close()
    await hub.close()
  })
  return { hub, served, reload: (keys) => hub.apply(configWith(keys)) }
}

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

async function hello({ url }: ServedHub, key: string): Promise<number> {
  const headers = { ...bearer(key), "content-type": "application/json" }
  const init = { method: "POST", headers, body: "{}" }
  const { status } = await fetch(`${url}/operations/own.hello`, init)
  return status
}

/** What a caller may have open; each resolves to how it ended. */
const OPEN: Readonly<
  Record<string, (served: ServedHub, key: string) => Promise<() => Promise<string>>>
> = {
  "a WebSocket": async ({ wsUrl = "" }, key) => {
    const socket = new WebSocket(wsUrl, { headers: bearer(key) })
    const closed = new Promise<string>((resolve) =>
      socket.on("close", (code, reason) => resolve(`${code} ${String(reason)}`)),
    )
    await new Promise((resolve) => socket.on("open", resolve))
    return () => closed
  },
  "a stream": ({ url }, key) =>
    read(`${url}/operations/own.ticks`, key, { method: "POST", body: "{}" }),
  "the hub's events": ({ url }, key) => read(`${url}/hub/events`, key, {}),
  "an MCP subscription": ({ mcpUrl = "" }, key) =>
    read(
      mcpUrl,
      key,
      rawRequest("subscriptions/listen", {
        params: { notifications: { toolsListChanged: true } },
      }),
    ),
}

async function read(url: string, key: string, init: RequestInit): Promise<() => Promise<string>> {
  const headers = new Headers(init.headers)
  if (!headers.has("accept")) headers.set("accept", "text/event-stream")
  headers.set("content-type", "application/json")
  headers.set("authorization", `Bearer ${key}`)
  const response = await fetch(url, { ...init, headers })
  expect(response.status).toBe(200)
  return () => response.text()
}

describe.each(Object.entries(RELOADS))("%s", (_, { keys, status }) => {
  test("stops working at once, and other keys go on", async () => {
    const { served, reload } = await openHub()
    expect(await hello(served, KEYS.eve)).toBe(200)
    await reload(keys)
    expect(await hello(served, KEYS.eve)).toBe(status)
    expect(await hello(served, KEYS.ada)).toBe(200)
  })

  test.each(Object.entries(OPEN))("ends %s", async (name, open) => {
    const { served, reload } = await openHub()
    let isOthersOver = false
    const others = await open(served, KEYS.ada)
    void others().then(() => (isOthersOver = true))
    const ended = await open(served, KEYS.eve)
    await reload(keys)
    const end = await ended()
    // A subscription of MCP ends without a reason.
    expect(end).toContain(name.includes("MCP") ? "" : "The credential was revoked.")
    expect(end.startsWith("4401 ")).toBe(name === "a WebSocket")
    expect(isOthersOver).toBe(false)
  })

  test("ends the MCP session of its caller", async () => {
    const { served, reload } = await openHub()
    const url = served.mcpUrl ?? ""
    const clients = await Promise.all(
      [KEYS.ada, KEYS.eve].map((key) => connect(url, "legacy", { headers: bearer(key) })),
    )
    const [ada, eve] = clients
    onTestFinished(async () => {
      for (const client of clients) await client.close()
    })
    await reload(keys)
    await expect(ada?.listTools()).resolves.toMatchObject({ tools: expect.any(Array) })
    await expect(eve?.listTools()).rejects.toThrow(status === 401 ? /./ : /Session not found/)
  })
})

describe("a reload of API keys", () => {
  test("adds keys, and lets nobody in without the last one", async () => {
    const { served, reload } = await openHub()
    await reload([keyOf("eve", ADMIN)])
    expect(await hello(served, KEYS.ada)).toBe(401)
    await reload(BEFORE)
    expect(await hello(served, KEYS.ada)).toBe(200)
    await reload([])
    expect(await hello(served, KEYS.ada)).toBe(401)
  })

  test("keeps those in use when one of the new ones is invalid", async () => {
    const { hub, served, reload } = await openHub()
    const broken = reload([{ hash: "short", id: "bob" }])
    await expect(broken).rejects.toThrow("server.apiKeys[0].hash")
    expect(await hello(served, KEYS.eve)).toBe(200)
    expect(hub.config.server.apiKeys).toEqual(BEFORE)
  })
})
