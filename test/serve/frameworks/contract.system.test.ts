// @isolated: it changes what the whole process uses.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { silentLogger } from "../../../src/internal/logger.ts"
import { hashApiKey, toHTTP } from "../../../src/to-http.ts"
import type { HTTPServerOptions } from "../../../src/serve/http/options.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { waitFor } from "../../support/wait-for.ts"
import { demo } from "../http/support.ts"
import type { Seen } from "../http/support.ts"
import { rawRequest } from "../mcp/support/clients.ts"
import { MOUNT_WAYS } from "./mounts.ts"
import type { Mounted, MountWay } from "./mounts.ts"

interface Api extends Mounted {
  readonly seen: Seen
}

/** The registry of `demo`, mounted. */
async function mounted(way: MountWay, path: string, options: HTTPServerOptions = {}): Promise<Api> {
  const { registry, seen } = demo()
  // A framework that keeps the path leaves it to the API.
  const basePath = way.prefix === "kept" ? path : undefined
  const http = toHTTP(registry, { logger: silentLogger, basePath, ...options })
  const { send, [Symbol.asyncDispose]: unmount } = await way.mount(http, path)
  return {
    seen,
    send: (rest, init) => send(`${path}${rest}`, init),
    async [Symbol.asyncDispose]() {
      await http.close()
      await unmount()
    },
  }
}

function json(value: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(value),
  }
}

/** Where a document sends the calls of its first path, from the place where it was found. */
async function firstTarget(response: Response, at: string): Promise<string> {
  const { servers, paths } = (await response.json()) as {
    servers?: [{ url: string }]
    paths: Record<string, unknown>
  }
  const url = new URL(servers?.[0].url ?? "/", `http://localhost${at}`)
  const path = Object.keys(paths).find((one) => one.endsWith("/demo/echo"))
  return `${url.pathname.replace(/\/$/, "")}${path}`
}

/** Reads text of a body until it has something. */
async function readUntil(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  isEnough: (text: string) => boolean,
): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  while (!isEnough(text)) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
  }
  return text
}

// The second is also where REST paths begin.
const PLACES = ["", "/api", "/api/v1"]

describe.each(MOUNT_WAYS)("$name", (way) => {
  describe.each(PLACES)('mounted under "%s"', (path) => {
    /** For tests that need no options of their own. */
    let shared: Api
    beforeAll(async () => void (shared = await mounted(way, path)))
    afterAll(() => shared[Symbol.asyncDispose]())

    test("serves every route, and no other", async () => {
      const api = shared
      const gateway = await api.send("/operations/demo.echo", json({ a: 1 }))
      expect(await gateway.json()).toMatchObject({ data: { a: 1 } })
      const rest = await api.send("/api/demo/echo", json([1]))
      expect(await rest.json()).toEqual([1])
      const query = await api.send("/api/demo/echo?input=%7B%22a%22%3A1%7D")
      expect(await query.json()).toEqual({ input: { a: 1 } })
      const list = await api.send("/operations?namespace=demo")
      expect(JSON.stringify(await list.json())).toContain('"demo.echo"')
      expect((await api.send("/livez")).status).toBe(200)
      expect((await api.send("/nothing")).status).toBe(404)
    })

    test("describes paths under which the operations are", async () => {
      const api = shared
      const target = await firstTarget(await api.send("/openapi.json"), `${path}/openapi.json`)
      expect(target).toBe(`${path}/api/demo/echo`)
    })

    test("lists its endpoints at its root", async () => {
      await using api = await mounted(way, path, { basePath: path })
      for (const root of ["/", ...(path === "" ? [] : [""])]) {
        if (root === "" && way.prefix === "kept") continue
        const response = await api.send(root)
        expect(await response.json()).toMatchObject({
          endpoints: expect.arrayContaining([
            expect.objectContaining({ path: `${path}/operations` }),
          ]) as unknown,
        })
      }
    })

    test("takes the path as basePath, whether or not the framework removes it", async () => {
      await using api = await mounted(way, path, { basePath: path })
      expect((await api.send("/operations/demo.echo", json({ a: 1 }))).status).toBe(200)
      expect(await (await api.send("/api/demo/echo", json({ a: 1 }))).json()).toEqual({ a: 1 })
      expect((await api.send("/readyz")).status).toBe(200)
      const document = await api.send("/openapi.json")
      expect(await firstTarget(document, `${path}/openapi.json`)).toBe(`${path}/api/demo/echo`)
    })

    test("answers errors as problems", async () => {
      const api = shared
      const wrong = await api.send("/api/demo/count", json({ to: "x" }, { "request-id": "one" }))
      expect(wrong.status).toBe(400)
      expect(wrong.headers.get("content-type")).toBe("application/problem+json")
      expect(await wrong.json()).toMatchObject({ code: "VALIDATION_ERROR", requestId: "one" })
      const unknown = await api.send("/operations/demo.ecko", json({}))
      expect(unknown.status).toBe(404)
      expect(await unknown.json()).toMatchObject({ detail: expect.stringContaining("demo.echo") })
      const method = await api.send("/api/demo/hang")
      expect([method.status, method.headers.get("allow")]).toEqual([405, "POST"])
    })

    test("answers HEAD and preflights", async () => {
      const origin = "https://app.example.com"
      await using api = await mounted(way, path, { cors: { origins: [origin] } })
      const head = await api.send("/operations", { method: "HEAD" })
      expect([head.status, await head.text()]).toEqual([200, ""])
      const preflight = await api.send("/api/demo/echo", {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST" },
      })
      expect(preflight.status).toBe(204)
      expect(preflight.headers.get("access-control-allow-origin")).toBe(origin)
      const call = await api.send("/api/demo/echo", json({ a: 1 }, { origin }))
      expect(call.headers.get("access-control-allow-origin")).toBe(origin)
    })

    test("asks who calls", async () => {
      const key = "a-long-key-of-a-test"
      const auth = { apiKeys: [{ hash: hashApiKey(key), identity: { id: "me", scopes: [] } }] }
      await using api = await mounted(way, path, { auth })
      expect((await api.send("/api/demo/echo", json({ a: 1 }))).status).toBe(401)
      expect(
        (await api.send("/api/demo/echo", json({ a: 1 }, { "x-api-key": "wrong" }))).status,
      ).toBe(401)
      expect((await api.send("/api/demo/echo", json({ a: 1 }, { "x-api-key": key }))).status).toBe(
        200,
      )
      expect(api.seen.runs).toBe(1)
    })

    test("streams events to their end", async () => {
      const api = shared
      const accept = { accept: "text/event-stream" }
      const response = await api.send("/operations/demo.count", json({ to: 3 }, accept))
      expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/)
      const text = await response.text()
      expect(text.match(/^data: .*"data":\d/gm)).toHaveLength(3)
      expect(text).toContain("event: end")
    })

    test("serves what is mounted in the API", async () => {
      const { registry } = demo()
      await using mcp = toMCP(registry, { logger: silentLogger })
      const { fetch: answer, node } = mcp
      const whole = `${path}/mcp`
      const cases: HTTPServerOptions[] = [
        { basePath: path, mounts: { [whole]: mcp } },
        { basePath: path, mounts: { [whole]: { fetch: answer, node } } },
        ...(way.prefix === "kept" ? [] : [{ mounts: { "/mcp": mcp } }]),
        ...(way.prefix === "kept" ? [] : [{ basePath: path, mounts: { "/mcp": mcp } }]),
      ]
      for (const options of cases) {
        await using api = await mounted(way, path, options)
        const call = { params: { name: "demo_echo", arguments: { a: 1 } } }
        const response = await api.send("/mcp", rawRequest("tools/call", call))
        expect([response.status, await response.text()]).toEqual([
          200,
          expect.stringContaining('{\\"a\\":1}') as string,
        ])
      }
    })
  })
})

// Lambda sends an answer when all of it is there.
describe.each(MOUNT_WAYS.filter(({ streams }) => streams))("$name", (way) => {
  describe.each(PLACES)('mounted under "%s"', (path) => {
    test("sends each item as it comes, and ends the handler when the client leaves", async () => {
      await using api = await mounted(way, path)
      const controller = new AbortController()
      const { signal } = controller
      const response = await api.send("/api/demo/idle", { signal })
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      // The handler waits now, and for nothing but the client.
      expect(await readUntil(reader, (text) => text.includes("first"))).toContain("first")
      await api.seen.waiting.promise
      expect(api.seen.aborted).toBe(0)
      controller.abort()
      await reader.cancel().catch(() => undefined)
      await waitFor(() => expect(api.seen.aborted).toBe(1))
    })

    test("ends a call when the client leaves", async () => {
      await using api = await mounted(way, path)
      const controller = new AbortController()
      const { signal } = controller
      const call = api.send("/api/demo/hang", { ...json({}), signal }).catch(() => undefined)
      await api.seen.waiting.promise
      controller.abort()
      await waitFor(() => expect(api.seen.aborted).toBe(1))
      await call
    })
  })
})

describe("a path that the framework keeps and the API does not know", () => {
  const kept = MOUNT_WAYS.filter(({ prefix }) => prefix === "kept")

  test.each(kept)("is answered with advice in $name", async (way) => {
    await using api = await mounted(way, "/api/v1", { basePath: undefined })
    const response = await api.send("/operations/demo.echo", json({ a: 1 }))
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({
      detail: expect.stringContaining('give toHTTP basePath: "/api/v1"') as string,
    })
    expect(api.seen.runs).toBe(0)
  })
})
