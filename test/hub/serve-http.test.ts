import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Type } from "typebox"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { serveHTTP } from "../../src/node.ts"
import type { ServedHTTP, ServeHTTPOptions } from "../../src/node.ts"
import { createRegistry, defineOperation } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { OperationRegistry } from "../../src/index.ts"
import { toHTTP } from "../../src/to-http.ts"
import { count, greet, operation } from "../support/operations.ts"

const PAGE = "<!doctype html><title>Test console</title>"
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

const secret = operation("demo.secret", {
  accessControl: { requiredScopes: ["secret"] },
  handler: () => "s",
})
const inner = operation("demo.inner", { visibility: "internal", handler: () => 1 })
const outer = defineOperation({
  ...greet,
  name: "outer",
  inputSchema: Type.Object({}),
  outputSchema: Type.Unknown(),
  composes: ["demo.*"],
  handler: async (_, context) => (await context.call("demo.inner", {})).data,
})

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "console-"))
  await writeFile(join(folder, "index.html"), PAGE)
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function serve(
  options: ServeHTTPOptions = {},
): Promise<{ readonly served: ServedHTTP; readonly registry: OperationRegistry }> {
  const registry: OperationRegistry = createRegistry([greet, count, secret, inner, outer], {
    logger: silentLogger,
  })
  const served = await serveHTTP(registry, {
    port: 0,
    console: folder,
    logger: silentLogger,
    ...options,
  })
  onTestFinished(() => served.close())
  return { served, registry }
}

async function ask(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return await fetch(url, { headers, redirect: "manual" })
}

async function idsOf(response: Response): Promise<readonly string[]> {
  const { operations } = (await response.json()) as { operations: { id: string }[] }
  return operations.map(({ id }) => id)
}

interface Stats {
  readonly calls: number
  readonly recent: readonly { readonly operationId: string }[]
}

describe("serveHTTP with a console", () => {
  test("serves the page to browsers, and the endpoints to everyone else", async () => {
    const { served } = await serve({ title: "Demo" })
    const page = await ask(`${served.url}/`, { accept: BROWSER })
    expect([page.status, await page.text()]).toEqual([200, PAGE])
    expect(page.headers.get("vary")).toContain("accept,")
    for (const accept of ["*/*", "application/json", "application/json, text/html;q=0.5"]) {
      const index = await ask(`${served.url}/`, { accept })
      expect(index.headers.get("content-type"), accept).toBe("application/json")
      expect(await index.json()).toMatchObject({ title: "Demo" })
    }
  })

  test("serves it below a base path, which needs its slash", async () => {
    const { served } = await serve({ basePath: "/v1" })
    expect(served.url).toMatch(/\/v1$/)
    expect(await (await ask(`${served.url}/`, { accept: BROWSER })).text()).toBe(PAGE)
    const moved = await ask(served.url, { accept: BROWSER })
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "./v1/"])
    expect((await ask(`${served.url}/hub/operations`)).status).toBe(200)
  })

  test("lists the operations and the calls, without sources", async () => {
    const { served, registry } = await serve()
    await registry.execute("demo.greet", { name: "Ada" })
    const ids = await idsOf(await ask(`${served.url}/hub/operations`))
    expect(ids).toEqual(["demo.count", "demo.greet", "demo.outer"])
    expect(await (await ask(`${served.url}/hub/sources`)).json()).toEqual({
      sources: [],
      calls: {},
    })
    expect((await ask(`${served.url}/hub/sources/x/report`)).status).toBe(404)
    const stats = (await (await ask(`${served.url}/hub/stats`)).json()) as Stats
    expect(stats.recent.map(({ operationId }) => operationId)).toEqual(["demo.greet"])
  })

  test("hides calls of operations that are internal or not exposed", async () => {
    const { served, registry } = await serve({ expose: { exclude: ["demo.greet"] } })
    await registry.execute("demo.greet", { name: "Ada" })
    await registry.execute("demo.outer", {})
    const stats = (await (await ask(`${served.url}/hub/stats`)).json()) as Stats
    expect(stats.recent.map(({ operationId }) => operationId)).toEqual(["demo.outer"])
    expect(await idsOf(await ask(`${served.url}/hub/operations`))).not.toContain("demo.greet")
  })

  test("asks for the credentials of the API, and for a scope to see calls", async () => {
    const { served } = await serve({
      authenticate: ({ headers }) => {
        const { authorization } = headers
        if (authorization === undefined) return undefined
        return { id: "ann", scopes: [String(authorization).slice("Bearer ".length)] }
      },
    })
    expect((await ask(`${served.url}/`, { accept: BROWSER })).status).toBe(200)
    expect((await ask(`${served.url}/`)).status).toBe(401)
    for (const path of ["/hub/operations", "/hub/stats", "/hub/events", "/hub/sources"]) {
      expect((await ask(`${served.url}${path}`)).status, path).toBe(401)
    }
    const user = { authorization: "Bearer secret" }
    expect(await idsOf(await ask(`${served.url}/hub/operations`, user))).toContain("demo.secret")
    expect((await ask(`${served.url}/hub/stats`, user)).status).toBe(403)
    const admin = { authorization: "Bearer hub:admin" }
    expect((await ask(`${served.url}/hub/stats`, admin)).status).toBe(200)
  })

  test("ends the streams of open consoles when it closes", async () => {
    const { served } = await serve({ drainMs: 20_000 })
    const events = await ask(`${served.url}/hub/events`, { accept: "text/event-stream" })
    await served.close()
    expect(await events.text()).toContain("event: end")
  })

  test("is off by default: there is no page, and there are no routes of a hub", async () => {
    const { served } = await serve({ console: undefined })
    const index = await ask(`${served.url}/`, { accept: BROWSER })
    expect(index.headers.get("content-type")).toBe("application/json")
    expect((await ask(`${served.url}/hub/operations`)).status).toBe(404)
  })

  test("needs a registry, and the gateway", async () => {
    const registry = createRegistry([greet])
    await expect(serveHTTP(toHTTP(registry), { console: true })).rejects.toThrow(
      "give console to toHTTP",
    )
    await expect(serveHTTP(registry, { console: true, gateway: false })).rejects.toThrow(
      "through the gateway",
    )
  })
})
