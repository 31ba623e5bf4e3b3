import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import type { ResolvedSource, ServerConfig } from "../../src/config/model.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import type { Hub } from "../../src/hub/model.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { hashApiKey } from "../../src/to-http.ts"
import { configOf, folder, operationText, sourceOf, untilSource } from "./support.ts"

const KEYS = { admin: "k-admin-1b52d8f4", reader: "k-reader-93c1e0a7" } as const

const AUTH: ServerConfig = {
  apiKeys: [
    { hash: hashApiKey(KEYS.admin), id: "root", scopes: ["hub:admin"] },
    { hash: hashApiKey(KEYS.reader), id: "reader", scopes: [] },
  ],
}

interface Asked {
  readonly method?: string
  readonly as?: keyof typeof KEYS
  readonly origin?: string
}

interface Site {
  readonly hub: Hub
  readonly url: string
  readonly ask: (
    path: string,
    asked?: Asked,
  ) => Promise<[number, Readonly<Record<string, unknown>>]>
}

async function site(
  sources: readonly ResolvedSource[],
  server: ServerConfig = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Site> {
  const hub = createHub(configOf(sources, { server }), {
    logger: silentLogger,
    env: { ...process.env, ...env },
    retry: false,
  })
  onTestFinished(() => hub.close())
  await hub.ready()
  const served = await serveHub(hub, { port: 0, console: false })
  onTestFinished(() => served.close())
  return {
    hub,
    url: served.url,
    ask: async (path, { method = "GET", as, origin } = {}) => {
      const response = await fetch(served.url + path, {
        method,
        headers: {
          ...(as !== undefined && { "x-api-key": KEYS[as] }),
          ...(origin !== undefined && { origin }),
          ...(method === "POST" && { "content-type": "application/json" }),
        },
        ...(method === "POST" && { body: "{}" }),
      })
      return [response.status, (await response.json()) as Readonly<Record<string, unknown>>]
    },
  }
}

function words(): ResolvedSource {
  return sourceOf("words", {
    scan: folder({
      "word.ts": operationText("w.word", `(input) => ({ said: input.text })`),
      "fail.ts": operationText("w.fail", `() => { throw new Error("Broken: " + process.pid) }`),
    }),
  })
}

describe("GET /metrics", () => {
  test("is for administrators, as text that counts what was called", async () => {
    const { hub, url } = await site([words()], AUTH)
    await hub.registry.execute("w.word", {})
    await hub.registry.execute("w.fail", {}).catch(() => undefined)
    const get = (key?: string): Promise<Response> =>
      fetch(`${url}/metrics`, { headers: key === undefined ? {} : { "x-api-key": key } })
    expect((await get()).status).toBe(401)
    expect((await get(KEYS.reader)).status).toBe(403)
    const answer = await get(KEYS.admin)
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
    const text = await answer.text()
    expect(text).toContain(
      'operations_calls_total{operation="w.word",source="words",outcome="ok"} 1\n',
    )
    expect(text).toContain('outcome="error",code="EXECUTION_ERROR"} 1\n')
    expect(text).toContain('operations_source_ready{source="words",kind="scan"} 1\n')
  })

  test("and health checks are for all, with nothing but yes or no", async () => {
    const { ask } = await site([words()], AUTH)
    for (const path of ["/healthz", "/readyz"]) {
      expect(await ask(path)).toEqual([200, { status: "ok" }])
    }
  })
})

describe("GET /hub/calls", () => {
  test("says that nothing is recorded unless the configuration asks for it", async () => {
    const { ask } = await site([words()])
    const [status, problem] = await ask("/hub/calls?requestId=x")
    expect([status, problem["detail"]]).toEqual([
      404,
      'Inputs and results of calls are not recorded. Set "record" under "server" in the configuration.',
    ])
    expect((await ask("/hub/operations"))[1]).toMatchObject({ records: false })
  })

  test("shows recorded calls without values of references", async () => {
    const secret = "s3cr3t-value-of-a-variable"
    const keyed = sourceOf("api", { openapi: "./nowhere.json", auth: "${env:THE_KEY}" })
    const { ask, hub } = await site([words(), keyed], { record: true }, { THE_KEY: secret })
    await hub.registry.execute("w.word", { text: `The key is ${secret}.` }, { requestId: "a/b c" })
    expect(await ask("/hub/calls?requestId=a%2Fb%20c")).toMatchObject([
      200,
      { calls: [{ operationId: "w.word", input: { value: { text: "The key is ***." } } }] },
    ])
    expect(await ask("/hub/calls")).toEqual([200, { calls: [] }])
    expect((await ask("/hub/operations"))[1]).toMatchObject({ records: true })
  })

  test("is for administrators only", async () => {
    const { ask } = await site([words()], { ...AUTH, record: { calls: 5 } })
    expect((await ask("/hub/calls?requestId=x"))[0]).toBe(401)
    expect((await ask("/hub/calls?requestId=x", { as: "reader" }))[0]).toBe(403)
    expect((await ask("/hub/calls?requestId=x", { as: "admin" }))[0]).toBe(200)
    expect((await ask("/hub/operations", { as: "reader" }))[1]).not.toHaveProperty("records")
  })
})

describe("GET /hub/tools", () => {
  test("tells administrators what the tools cost, by source", async () => {
    const { ask } = await site([words()], AUTH)
    expect((await ask("/hub/tools", { as: "reader" }))[0]).toBe(403)
    expect(await ask("/hub/tools", { as: "admin" })).toMatchObject([
      200,
      {
        mode: "all",
        all: { tools: 2 },
        search: { tools: 4 },
        parts: [{ name: "words", tools: 2 }],
      },
    ])
  })
})

describe("sources of a hub that can be repaired", () => {
  test("are opened again on request, and keep their last error", async () => {
    const dir = folder()
    const { ask } = await site([sourceOf("late", { openapi: join(dir, "api.json") })])
    const post = { method: "POST" }
    expect(await ask("/hub/sources/late/reopen", post)).toMatchObject([
      200,
      { state: "failed", attempts: 2 },
    ])
    const document = {
      openapi: "3.1.0",
      info: { title: "Late", version: "1.0.0" },
      servers: [{ url: "http://127.0.0.1:9" }],
      paths: { "/a": { get: { operationId: "a", responses: {} } } },
    }
    writeFileSync(join(dir, "api.json"), JSON.stringify(document))
    const [, status] = await ask("/hub/sources/late/reopen", post)
    expect(status).toMatchObject({ state: "ready", attempts: 0, operations: 1 })
    expect(status["lastError"]).toMatchObject({ at: expect.any(Number) })
    expect(JSON.stringify(status["lastError"])).toContain("api.json")

    const b = { get: { operationId: "b", responses: {} } }
    writeFileSync(join(dir, "api.json"), JSON.stringify({ ...document, paths: { "/b": b } }))
    await ask("/hub/sources/late/reopen", post)
    expect((await ask("/hub/sources/late"))[1]).toMatchObject({
      changes: {
        added: { count: 1, ids: ["late.b"] },
        removed: { count: 1, ids: ["late.a"] },
        changed: { count: 0 },
      },
    })
  })

  test("are opened again by administrators only, and by no other web page", async () => {
    const { ask } = await site([words()], AUTH)
    const path = "/hub/sources/words/reopen"
    expect((await ask(path, { method: "POST" }))[0]).toBe(401)
    expect((await ask(path, { method: "POST", as: "reader" }))[0]).toBe(403)
    expect((await ask("/hub/sources/words", { as: "reader" }))[0]).toBe(403)
    expect((await ask(path, { as: "admin" }))[0]).toBe(405)
    expect((await ask(path, { method: "POST", as: "admin" }))[0]).toBe(200)
    const open = await site([words()])
    const origin = "https://elsewhere.example"
    expect((await open.ask(path, { method: "POST", origin }))[0]).toBe(403)
  })

  test("are 404 when there are none of that name, and stay disabled", async () => {
    const { ask } = await site([{ ...words(), disabled: true }])
    const post = { method: "POST" }
    expect((await ask("/hub/sources/__proto__/reopen", post))[0]).toBe(404)
    expect((await ask("/hub/sources/__proto__"))[0]).toBe(404)
    expect(await ask("/hub/sources/words/reopen", post)).toMatchObject([200, { state: "disabled" }])
  })

  test("say which variable is missing, and where to set it", async () => {
    const { ask } = await site([
      sourceOf("keyed", { openapi: "./nowhere.json", auth: "${env:NO_SUCH_KEY}" }),
    ])
    const [, { missing }] = await ask("/hub/sources/keyed")
    expect(missing).toEqual([
      {
        kind: "variable",
        name: "NO_SUCH_KEY",
        how: "Set this variable in the environment of the hub, and restart the hub.",
      },
    ])
  })

  test("say which credentials of a document are not configured", async () => {
    const bearer = { type: "http", scheme: "bearer" }
    const key = { type: "apiKey", in: "header", name: "x-key" }
    const get = (operationId: string, security?: unknown): object => ({
      get: { operationId, responses: {}, ...(security !== undefined && { security }) },
    })
    const dir = folder({
      "api.json": JSON.stringify({
        openapi: "3.1.0",
        info: { title: "Locked", version: "1.0.0" },
        servers: [{ url: "http://127.0.0.1:9" }],
        components: { securitySchemes: { bearer, key } },
        security: [{ bearer: [] }],
        paths: {
          "/a": get("a"),
          "/b": get("b"),
          "/c": get("c", [{ key: [] }, { bearer: [], key: [] }]),
          "/d": get("d", []),
          "/e": get("e", [{}, { key: [] }]),
        },
      }),
    })
    const openapi = join(dir, "api.json")
    const { ask } = await site([
      sourceOf("none", { openapi }),
      sourceOf("one", { openapi, credentials: { bearer: "t-1" } }),
      sourceOf("all", { openapi, auth: "t-1" }),
      sourceOf("header", { openapi, headers: { "X-Key": "k-1" } }),
    ])
    const missingOf = async (name: string): Promise<unknown> =>
      ((await ask(`/hub/sources/${name}`))[1]["missing"] as { name: string; how: string }[]).map(
        ({ name: scheme, how }) => `${scheme}: ${how.split(".")[0]}`,
      )
    expect(await missingOf("none")).toEqual([
      "bearer: 2 operations need it",
      "key or bearer with key: 1 operation needs it",
    ])
    expect(await missingOf("one")).toEqual(["key or bearer with key: 1 operation needs it"])
    expect(await missingOf("all")).toEqual([])
    expect(await missingOf("header")).toEqual([])
  })

  test("show the last lines that a process wrote to stderr, without secrets", async () => {
    const dir = folder({
      "server.mjs": `
        for (let line = 0; line < 200; line++) console.error("line " + line)
        console.error("key " + process.env.THE_KEY)
        // Time for its output to be read: the end of a process may be noticed first.
        setTimeout(() => process.exit(3), 300)`,
    })
    const source = sourceOf("dies", {
      mcp: { command: process.execPath, args: [join(dir, "server.mjs")] },
      env: { THE_KEY: "${env:THE_KEY}" },
    })
    const secret = "s3cr3t-of-the-server"
    const { ask } = await site([source], {}, { THE_KEY: secret })
    const [, { stderr, state }] = await ask("/hub/sources/dies")
    expect(state).toBe("failed")
    const lines = String(stderr).split("\n")
    expect(lines.length).toBeLessThanOrEqual(50)
    expect(lines.at(-1)).toBe("key ***")
    expect(lines.at(-2)).toBe("line 199")
    expect(JSON.stringify(await ask("/hub/sources/dies"))).not.toContain(secret)
  })

  test("show the output to stderr of a server that runs", async () => {
    const dir = folder({
      "server.mjs": `
        console.error("started")
        process.stdin.setEncoding("utf8").on("data", (text) => {
          for (const line of text.split("\\n").filter(Boolean)) {
            const { id, method, params } = JSON.parse(line)
            if (id === undefined) continue
            const result = method === "initialize"
              ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
              : method === "tools/list" ? { tools: [] } : undefined
            const answer = result ? { result } : { error: { code: -32601, message: "no" } }
            console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }))
          }
        })`,
    })
    const mcp = { command: process.execPath, args: [join(dir, "server.mjs")] }
    const { ask, hub } = await site([sourceOf("runs", { mcp })])
    await untilSource(hub, "runs", ({ state }) => state === "ready")
    expect((await ask("/hub/sources/runs"))[1]).toMatchObject({ stderr: "started", missing: [] })
  })

  test("have their calls counted", async () => {
    const { ask, hub } = await site([words()])
    await hub.registry.execute("w.word", { text: "a" })
    await hub.registry.execute("w.fail", {}).catch(() => undefined)
    expect((await ask("/hub/sources"))[1]).toMatchObject({
      calls: { words: { calls: 2, errors: 1, errorRate: 0.5 } },
    })
  })

  test("do not show local paths to callers who are no administrators", async () => {
    const source = words()
    const { ask } = await site([source], AUTH)
    const path = (source.config as { scan: string }).scan
    for (const at of ["/hub/operations", "/operations", "/operations/w.word", "/hub/sources"]) {
      expect(JSON.stringify(await ask(at, { as: "reader" }))).not.toContain(path)
    }
  })
})
