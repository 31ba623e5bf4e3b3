import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import type { OpenAPISource } from "../../src/config.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import type { Hub } from "../../src/hub/model.ts"
import type { Logger } from "../../src/internal/logger.ts"
import {
  FLAKY,
  configOf,
  EVERYTHING,
  folder,
  hubOf,
  operationText,
  sourceOf,
  untilSource,
} from "./support.ts"

const CANARY = "canary-7f3a9c2e41d0"

/** A document with one operation, `getWord`. */
function documentOf(path = "/word"): string {
  return JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Words", version: "1.0.0" },
    components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
    security: [{ key: [] }],
    paths: {
      [path]: { get: { operationId: "getWord", responses: { 200: { description: "A word" } } } },
    },
  })
}

function idsOf(hub: Hub): string[] {
  return hub.registry.list().map(({ namespace, name }) => `${namespace}.${name}`)
}

function recorder(): { logger: Logger; text(): string } {
  const lines: string[] = []
  const line = (message: string, fields?: unknown): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`)
  }
  return {
    logger: { debug: line, info: line, warn: line, error: line },
    text: () => lines.join("\n"),
  }
}

describe("sources of a hub", () => {
  test("a folder decides how results are treated that do not match, unless an operation does", async () => {
    const word = (id: string, more = ""): string =>
      operationText(id, "() => 7", `outputSchema: { type: "integer", minimum: 10 }, ${more}`)
    const dir = folder({
      "a.ts": word("near.word"),
      "b.ts": word("near.other", `output: "off",`),
    })
    const outcomes = async (source: object): Promise<unknown[]> => {
      const hub = hubOf([sourceOf("local", { scan: dir, ...source })])
      await hub.ready()
      const codeOf = (id: string): Promise<unknown> =>
        hub.registry.execute(id, {}).then(
          ({ data }) => data,
          ({ code }: { code: string }) => code,
        )
      return [await codeOf("near.word"), await codeOf("near.other")]
    }
    expect(await outcomes({})).toEqual([7, 7])
    expect(await outcomes({ output: "strict" })).toEqual(["OUTPUT_VALIDATION_ERROR", 7])
  })

  test("a folder decides which files are modules, and how long they have to load", async () => {
    const dir = folder({
      "a.ts": operationText("near.word", "() => 7"),
      "b.mts": operationText("near.other", "() => 8"),
      "c.mts": "await new Promise((resolve) => setTimeout(resolve, 20_000))",
    })
    const hub = hubOf([sourceOf("local", { scan: dir, extensions: [".mts"], importTimeout: 3000 })])
    await hub.ready()

    expect(hub.registry.list().map(({ name }) => name)).toEqual(["other"])
    expect(hub.report("local")).toMatchObject({ kept: 1, skipped: 1 })
  })

  test("all sources are opened at once; a failing one reports its reason while the others serve", async () => {
    const dir = folder({ "a.ts": operationText("near.word", `() => "near"`) })
    const hub = hubOf([
      sourceOf("local", { scan: dir }),
      sourceOf("gone", { openapi: join(dir, "nowhere.json") }),
      sourceOf("off", { scan: dir }, { disabled: true }),
    ])
    expect(hub.sources.map(({ state }) => state)).toEqual(["loading", "loading", "disabled"])
    await hub.ready()
    expect(hub.sources).toMatchObject([
      { name: "local", state: "ready", operations: 1, attempts: 0 },
      {
        name: "gone",
        state: "failed",
        operations: 0,
        reason: expect.stringContaining("nowhere.json"),
      },
      { name: "off", state: "disabled", operations: 0 },
    ])
    expect(hub.sources[1]?.retryAt).toBeGreaterThan(Date.now() - 60_000)
    expect((await hub.registry.execute("near.word", {})).data).toBe("near")
    expect(hub.report("gone")).toBeUndefined()
    expect(hub.report("off")).toBeUndefined()
    await expect(hub.reopen("off")).rejects.toThrow(`Take "disabled" out`)
    await expect(hub.reopen("locl")).rejects.toThrow(`Did you mean "local"?`)
  })

  test("a source whose operations cannot be taken over fails with the reason, and does not stay loading", async () => {
    const dir = folder({ "a.ts": operationText("near.word", `() => "near"`) })
    // Not what `resolveConfig` returns.
    const hub = hubOf([sourceOf("local", { scan: dir }, { exclude: 7 as never })])
    await hub.ready()
    expect(hub.sources).toMatchObject([
      { name: "local", state: "failed", attempts: 1, reason: expect.any(String) },
    ])
  })

  test("failed sources are retried until they are ready", async () => {
    const dir = folder()
    const hub = hubOf([sourceOf("later", { scan: join(dir, "later") })])
    await hub.ready()
    expect(hub.sources[0]?.state).toBe("failed")
    mkdirSync(join(dir, "later"))
    writeFileSync(join(dir, "later/a.ts"), operationText("late.word", `() => "here"`))
    await untilSource(hub, "later", ({ state }) => state === "ready")
    expect((await hub.registry.execute("late.word", {})).data).toBe("here")
    expect(hub.sources[0]).not.toHaveProperty("reason")
  })

  test("failed sources are not retried without `retry`", async () => {
    const hub = hubOf([sourceOf("gone", { scan: "nowhere" })], { retry: false })
    await hub.ready()
    expect(hub.sources[0]).toMatchObject({ state: "failed", attempts: 1 })
    expect(hub.sources[0]).not.toHaveProperty("retryAt")
  })

  test("a source without its environment variable is not retried, and its reason says what to do", async () => {
    const headers = { authorization: "Bearer ${env:WORDS_TOKEN}" }
    const hub = hubOf([sourceOf("words", { openapi: "https://a.example/x.json", headers })], {
      env: {},
    })
    await hub.ready()
    expect(hub.sources[0]).toMatchObject({ state: "failed", attempts: 1 })
    expect(hub.sources[0]).not.toHaveProperty("retryAt")
    expect(hub.sources[0]?.reason).toMatch(/"WORDS_TOKEN" is not set.*then restart\.$/)
  })

  test("sources are selected with `only`", async () => {
    const sources = [sourceOf("a", { scan: "nowhere" }), sourceOf("b", { scan: "nowhere" })]
    const hub = hubOf(sources, { only: ["b"] })
    expect(hub.sources.map(({ name }) => name)).toEqual(["b"])
    expect(() => createHub(configOf(sources), { only: ["bb"] })).toThrow(`Did you mean "b"?`)
  })

  test("of two operations with the same id the second is skipped, and its report names both sources", async () => {
    const [one, two] = [
      folder({
        "a.ts": operationText("w.word", `() => 1`),
        "b.ts": operationText("w.other", "() => 1"),
      }),
      folder({ "a.ts": operationText("w.word", `() => 2`) }),
    ]
    const hub = hubOf([sourceOf("one", { scan: one }), sourceOf("two", { scan: two })])
    await hub.ready()
    expect((await hub.registry.execute("w.word", {})).data).toBe(1)
    expect(hub.sources.map(({ operations }) => operations)).toEqual([2, 0])
    expect(hub.report("two")).toMatchObject({
      kept: 0,
      skipped: 1,
      items: [
        { origin: "w.word", notes: [expect.stringContaining(`source "one" has "w.word" too`)] },
      ],
    })
    await hub.apply(configOf([sourceOf("two", { scan: two })]))
    expect((await hub.registry.execute("w.word", {})).data).toBe(2)
    expect(idsOf(hub)).toEqual(["w.word"])
  })

  test("the report of a source covers every item", async () => {
    const dir = folder({
      "good.ts": operationText("w.good", `() => 1`),
      "left.ts": operationText("w.left", `() => 1`),
      "broken.ts": "export default {",
    })
    const hub = hubOf([
      sourceOf("local", { scan: dir }, { exclude: ["left"], rename: { gone: "x" } }),
    ])
    await hub.ready()
    expect(hub.report("local")).toEqual({
      kept: 1,
      widened: 0,
      skipped: 1,
      filtered: 1,
      items: [
        {
          origin: join(dir, "broken.ts"),
          status: "skipped",
          notes: [expect.stringContaining("cannot be loaded")],
        },
      ],
      warnings: [
        "1 of its files or exports cannot be used.",
        expect.stringContaining(`rename: nothing of source "local" is called "gone"`),
      ],
    })
  })

  test("a hub without sources is ready at once", async () => {
    const hub = hubOf([])
    await hub.ready()
    expect(hub.sources).toEqual([])
    await hub.close()
    await hub.close()
    await expect(hub.apply(configOf([]))).rejects.toThrow("The hub is closed")
  })
})

test("an OpenAPI source of a hub passes on options of the import, with references resolved", async () => {
  const seen: unknown[] = []
  const api = createServer((request, response) => {
    seen.push(request.url)
    response.writeHead(200, { "content-type": "application/json" }).end("9007199254740993")
  })
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void api.close())
  const { port } = api.address() as AddressInfo
  const get = { operationId: "getWord", responses: { 200: { description: "A word" } } }
  const document = {
    openapi: "3.1.0",
    info: { title: "Words", version: "1.0.0" },
    servers: [{ url: `http://127.0.0.1:${port}/{area}`, variables: { area: { default: "us" } } }],
    paths: { "/word": { get } },
  }
  const openapi = join(folder({ "api.json": JSON.stringify(document) }), "api.json")
  const settings: OpenAPISource = {
    openapi,
    bigint: "text",
    serverVariables: { area: "${env:AREA}" },
    allowedOrigins: [`http://127.0.0.1:${port}`],
  }
  const hub = hubOf([sourceOf("api", settings)], { env: { AREA: "eu" } })
  await hub.ready()

  expect((await hub.registry.execute("api.getWord", {})).data).toBe("9007199254740993")
  expect(seen).toEqual(["/eu/word"])
})

describe("secrets of a hub", () => {
  test("a missing variable is reported with its place and the fix", async () => {
    const dir = folder({ "api.json": documentOf() })
    const hub = hubOf(
      [
        sourceOf("api", { openapi: join(dir, "api.json"), headers: { "X-Key": "${env:API_KEY}" } }),
        sourceOf("server", { mcp: { command: "node", env: { TOKEN: "${env:API_TOKEN}" } } }),
        sourceOf("hub", { remote: "http://127.0.0.1:1", token: "${env:HUB_TOKEN}" }),
      ],
      { env: {} },
    )
    await hub.ready()
    expect(hub.sources.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/Source "api", headers\.X-Key: .*"API_KEY" is not set.*export API_KEY/),
      expect.stringMatching(/Source "server", env\.TOKEN: .*"API_TOKEN" is not set/),
      expect.stringMatching(/Source "hub", token: .*"HUB_TOKEN" is not set/),
    ])
  })

  test("secrets are sent to their source and never shown", async () => {
    const seen: unknown[] = []
    const api = createServer((request, response) => {
      if (request.url === "/word")
        seen.push(request.headers.authorization, request.headers["x-more"])
      response.writeHead(500, { "content-type": "text/plain" }).end(`wrong: ${CANARY}`)
    })
    await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void api.close())
    const { port } = api.address() as AddressInfo
    const dir = folder({
      "api.json": documentOf(),
      "dies.mjs": `console.error("token: " + process.env.TOKEN); process.exit(3)`,
    })
    const log = recorder()
    const statuses: unknown[] = []
    const hub = hubOf(
      [
        sourceOf("api", {
          openapi: join(dir, "api.json"),
          baseUrl: `http://127.0.0.1:${port}`,
          auth: "${env:SECRET}",
          headers: { "X-More": "more ${env:SECRET}" },
        }),
        sourceOf("dies", { mcp: `node ${join(dir, "dies.mjs")}`, env: { TOKEN: "${env:SECRET}" } }),
        sourceOf("web", { openapi: `http://127.0.0.1:${port}/doc?key=\${env:SECRET}` }),
        sourceOf("far", {
          remote: `http://127.0.0.1:${port}/\${env:SECRET}`,
          token: "${env:SECRET}",
        }),
      ],
      { env: { SECRET: CANARY }, logger: log.logger, retry: false },
    )
    hub.onStatus((status) => statuses.push(status))
    await hub.ready()
    const error: unknown = await hub.registry
      .execute("api.getWord", {})
      .catch((thrown: unknown) => thrown)
    expect(seen).toEqual([`Bearer ${CANARY}`, `more ${CANARY}`])
    expect(hub.sources.map(({ state }) => state)).toEqual(["ready", "failed", "failed", "failed"])
    const shown = [
      log.text(),
      JSON.stringify(hub.sources),
      JSON.stringify(statuses),
      JSON.stringify(hub.report("api")),
      String((error as Error).message),
    ].join("\n")
    expect(shown).toContain("dies")
    expect(shown).not.toContain(CANARY)
    expect(hub.mask(`x ${CANARY} y`)).toBe("x *** y")
  })
})

describe("applying another configuration", () => {
  test("opens new sources, closes removed ones, and leaves the rest alone", async () => {
    const [one, two] = [
      folder({ "a.ts": operationText("one.word", `() => 1`) }),
      folder({ "a.ts": operationText("two.word", `() => 2`) }),
    ]
    const hub = hubOf([sourceOf("one", { scan: one })])
    await hub.ready()
    const before = hub.registry.get("one.word")
    const states: string[] = []
    hub.onStatus(({ name, state }) => states.push(`${name} ${state}`))
    await hub.apply(configOf([sourceOf("two", { scan: two }), sourceOf("one", { scan: one })]))
    expect(hub.registry.get("one.word")).toBe(before)
    expect(hub.sources.map(({ name, state }) => [name, state])).toEqual([
      ["two", "ready"],
      ["one", "ready"],
    ])
    expect(states).not.toContain("one loading")
    await hub.apply(configOf([sourceOf("two", { scan: two }, { disabled: true })]))
    expect(idsOf(hub)).toEqual([])
    expect(hub.sources).toMatchObject([{ name: "two", state: "disabled" }])
    await hub.apply(configOf([sourceOf("two", { scan: two })]))
    expect(idsOf(hub)).toEqual(["two.word"])
  })

  test("new rules apply at once, without reopening a source", async () => {
    const dir = folder({
      "a.ts": operationText("w.a", `() => 1`),
      "b.ts": operationText("w.b", `() => 1`),
    })
    const hub = hubOf([sourceOf("w", { scan: dir })])
    await hub.ready()
    const states: string[] = []
    hub.onStatus(({ state }) => states.push(state))
    await hub.apply(
      configOf([
        sourceOf("w", { scan: dir }, { exclude: ["b"], access: [{ requiredScopes: ["x"] }] }),
      ]),
    )
    expect(idsOf(hub)).toEqual(["w.a"])
    expect(new Set(states)).toEqual(new Set(["ready"]))
    await expect(hub.registry.execute("w.a", {})).rejects.toMatchObject({ code: "ACCESS_DENIED" })
  })

  test("new rules apply even if the source cannot be reopened", async () => {
    const dir = folder({ "api.json": documentOf() })
    const openapi = join(dir, "api.json")
    const hub = hubOf([sourceOf("w", { openapi, baseUrl: "http://127.0.0.1:1" })])
    await hub.ready()
    await hub.apply(
      configOf([
        sourceOf(
          "w",
          { openapi: join(dir, "gone.json") },
          { access: [{ requiredScopes: ["x"] }], rename: { getWord: "word" } },
        ),
      ]),
    )
    expect(idsOf(hub)).toEqual(["w.word"])
    expect(hub.registry.getSpec("w.word")?.accessControl.requiredScopes).toEqual(["x"])
    expect(hub.sources[0]).toMatchObject({
      state: "ready",
      reason: expect.stringContaining("gone.json"),
    })
  })

  test("lets running calls finish before their server is stopped", async () => {
    const mcp = { command: ["node", EVERYTHING, "stdio"] }
    const hub = hubOf([sourceOf("every", { mcp })])
    await hub.ready()
    const running = hub.registry.execute("every.trigger-long-running-operation", {
      duration: 1.5,
      steps: 2,
    })
    await hub.apply(configOf([sourceOf("every", { mcp: { ...mcp, env: { CHANGED: "yes" } } })]))
    const after = await hub.registry.execute("every.get-env", {})
    expect(JSON.stringify(after.data)).toContain("CHANGED")
    expect(JSON.stringify((await running).data)).toContain("completed")
  })

  test("closing a hub cancels running calls and leaves no process", async () => {
    const hub = hubOf([sourceOf("every", { mcp: { command: ["node", EVERYTHING, "stdio"] } })])
    await hub.ready()
    const running = hub.registry.execute("every.trigger-long-running-operation", {
      duration: 60,
      steps: 2,
    })
    const [, outcome] = await Promise.all([hub.close(), running.catch((thrown: unknown) => thrown)])
    expect(outcome).toMatchObject({ code: "ABORTED" })
  })

  test("closing a hub while it opens leaves nothing behind", async () => {
    const hub = hubOf([
      sourceOf("every", { mcp: { command: ["node", EVERYTHING, "stdio"] } }),
      sourceOf("gone", { scan: "nowhere" }),
      sourceOf("far", { remote: "http://127.0.0.1:1" }),
    ])
    await hub.close()
    await hub.ready()
    expect(idsOf(hub)).toEqual([])
  })
})

describe("MCP servers of a hub", () => {
  test("entries of editors work unchanged", async () => {
    const dir = folder({ ".env": `FROM_FILE="file $\{x}"\n` })
    const hub = hubOf(
      [
        sourceOf("every", {
          mcp: {
            type: "stdio",
            command: "node",
            args: [EVERYTHING, "stdio"],
            env: {
              WHERE: "${workspaceFolder}/x",
              PLAIN: "${WORD}",
              OPEN: "{env:WORD}",
              OTHER: "${NOPE:-else}",
            },
            envFile: ".env",
          } as never,
          env: { MINE: "${env:WORD}" },
        }),
      ],
      { env: { WORD: "wo${rd}" } },
    )
    await hub.apply(configOf(hub.config.sources, { baseDir: dir }))
    expect(hub.sources[0]?.reason).toBeUndefined()
    const { data } = await hub.registry.execute("every.get-env", {})
    const env = JSON.parse((data as { text: string }[])[0]!.text) as Record<string, string>
    expect(env).toMatchObject({
      WHERE: `${dir}/x`,
      PLAIN: "wo${rd}",
      OPEN: "wo${rd}",
      OTHER: "else",
      FROM_FILE: "file ${x}",
      MINE: "wo${rd}",
    })
  })

  test("a server that keeps exiting is restarted until it stays", async () => {
    const dir = folder()
    const hub = hubOf([sourceOf("flaky", { mcp: { command: ["node", FLAKY, dir, EVERYTHING] } })])
    await hub.ready()
    await untilSource(hub, "flaky", ({ state }) => state === "ready")
    expect((await hub.registry.execute("flaky.echo", { message: "x" })).data).toBeDefined()
  })
})
