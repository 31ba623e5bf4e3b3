// What people see of the policies of a hub: in the description of an operation, and under /hub/policies.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import type { ResolvedConfig } from "../../src/config/model.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import { loadConfig } from "../../src/hub/config-file/load.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { CallError, createRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { serveHTTP } from "../../src/node.ts"
import { run } from "../cli/support/run.ts"
import { operation, rejection } from "../support/operations.ts"
import { configOf, sourceOf } from "./plain.ts"
import { folder, operationText } from "./support.ts"

const CACHED = `resilience: { cache: { ttl: 60_000, vary: () => "all" }, fallback: () => "none" }`
const CONFIG = {
  sources: { tools: { scan: ".", resilience: { concurrency: { max: 1 } } } },
  policies: [{ match: ["x.*", "w.r*"], breaker: { minimumCalls: 1 }, rateLimit: { perSecond: 1 } }],
}

async function serving(): Promise<{ url: string; dir: string }> {
  const dir = folder({
    "read.ts": operationText("w.read", `() => 1`, CACHED),
    "free.ts": operationText("w.free", `() => 1`),
  })
  const file = join(dir, "operations.config.json")
  writeFileSync(file, JSON.stringify(CONFIG))
  const hub = createHub(await loadConfig(file), { logger: silentLogger })
  onTestFinished(() => hub.close())
  await hub.ready()
  const served = await serveHub(hub, { port: 0 })
  onTestFinished(() => served.close())
  return { url: served.url, dir }
}

const READ_POLICIES = [
  { policy: "breaker", from: 'pattern "w.r*"', settings: { minimumCalls: 1 } },
  { policy: "rateLimit", from: 'pattern "w.r*"', settings: { perSecond: 1 } },
  { policy: "concurrency", from: 'source "tools"', settings: { max: 1 } },
  { policy: "cache", from: "definition", settings: { ttl: 60_000, vary: "custom" } },
  { policy: "fallback", from: "definition", settings: "custom" },
]

describe("policies of a hub", () => {
  test("are in the description of an operation, each with the place where it was set", async () => {
    const { url, dir } = await serving()
    const described = async (id: string): Promise<{ resilience?: unknown }> =>
      (await (await fetch(`${url}/operations/${id}`)).json()) as { resilience?: unknown }
    expect((await described("w.read")).resilience).toEqual(READ_POLICIES)
    expect((await described("w.free")).resilience).toEqual([
      { policy: "concurrency", from: 'source "tools"', settings: { max: 1 } },
    ])
    for (const target of [["--hub", url], []]) {
      const { stdout } = await run(["describe", "w.read", ...target], { cwd: dir })
      expect(stdout).toContain("Policies:\n  breaker      minimumCalls 1 ")
      expect(stdout).toMatch(/ {2}cache +ttl 60000, vary custom +definition\n/)
      const json = await run(["describe", "w.read", "--json", ...target], { cwd: dir })
      expect(JSON.parse(json.stdout)).toMatchObject({ id: "w.read", resilience: READ_POLICIES })
    }
  })

  test("report breakers, budgets and counts under /hub/policies", async () => {
    const { url } = await serving()
    const state = async (): Promise<unknown> => (await fetch(`${url}/hub/policies`)).json()
    expect(await state()).toEqual({ breakers: [], budgets: [], operations: [] })
    const call = (): Promise<Response> => fetch(`${url}/operations/w.read`, { method: "POST" })
    await call()
    await call()
    expect(await state()).toMatchObject({
      breakers: [{ name: '"w.read"', source: "tools", state: "closed", retryAfterMs: 0 }],
      budgets: [{ source: "tools", denied: 0 }],
      operations: [
        {
          operationId: "w.read",
          breaker: { name: '"w.read"', state: "closed", probing: 0 },
          cache: { entries: 1, hits: 1, misses: 1 },
          concurrency: { running: 0, waiting: 0, abandoned: 0 },
          rateLimit: { refused: 0 },
        },
      ],
    })
  })
})

test("other policies in the configuration of a hub begin with closed circuits", async () => {
  const get = { operationId: "read", responses: {} }
  const info = { title: "Away", version: "1.0.0" }
  const document = { openapi: "3.1.0", info, paths: { "/things": { get } } }
  const openapi = join(folder({ "api.json": JSON.stringify(document) }), "api.json")
  const configFor = (rest: number): ResolvedConfig => {
    const resilience = { breaker: { minimumCalls: 1, openMs: rest } }
    return configOf([sourceOf("api", { openapi, baseUrl: "http://127.0.0.1:9", resilience })])
  }
  const hub = createHub(configFor(60_000), { logger: silentLogger })
  onTestFinished(() => hub.close())
  await hub.ready()
  const code = async (): Promise<string> =>
    ((await rejection(hub.registry.execute("api.read", {}))) as CallError).code
  expect([await code(), await code()]).toEqual(["UNAVAILABLE", "CIRCUIT_OPEN"])

  await hub.apply(configFor(50_000))

  expect(hub.registry.policyState.breakers).toMatchObject([{ state: "closed" }])
  expect(await code()).toBe("UNAVAILABLE")
  expect(hub.registry.policyState.breakers).toMatchObject([{ source: "api", state: "open" }])
})

test("a registry that is served with a console reports the policies of what is exposed", async () => {
  const fail = (): never => {
    throw new CallError("UNAVAILABLE", "away")
  }
  const resilience = { breaker: { minimumCalls: 1 } }
  const registry = createRegistry(
    [
      operation("api.shown", { type: "query", handler: fail, resilience }),
      operation("api.hidden", { type: "query", handler: fail, resilience }),
    ],
    { logger: silentLogger },
  )
  const served = await serveHTTP(registry, {
    port: 0,
    console: true,
    expose: { exclude: ["api.hidden"] },
    logger: silentLogger,
  })
  onTestFinished(async () => {
    await served.close()
    await registry.close()
  })
  for (const id of ["api.shown", "api.hidden"] as const) await rejection(registry.execute(id, {}))
  const state = (await (await fetch(`${served.url}/hub/policies`)).json()) as {
    breakers: unknown[]
    operations: { operationId: string }[]
  }
  expect(state.operations.map(({ operationId }) => operationId)).toEqual(["api.shown"])
  expect(state.breakers).toMatchObject([
    { operationId: "api.shown", state: "open", lastCode: "UNAVAILABLE" },
  ])
})
