import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { resolveConfig } from "../../src/config/resolve.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import { silentLogger } from "../../src/testing.ts"
import type { ResolvedConfig } from "../../src/config/model.ts"
import { rejection } from "../support/operations.ts"

const folders: string[] = []

afterEach(async () => {
  for (const made of folders.splice(0)) await rm(made, { recursive: true, force: true })
})

const OPERATION = `export default {
  namespace: "a", name: "b", version: "1.0.0", type: "query", description: "x",
  inputSchema: {}, outputSchema: {}, accessControl: { requiredScopes: [] },
  handler: (_input, { metadata, attempt }) => ({ ...metadata, attempt }),
}`

async function folder(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "hub-middleware-"))
  folders.push(dir)
  await writeFile(join(dir, "package.json"), `{ "type": "module" }`)
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
  return dir
}

function config(baseDir: string, parts: object): ResolvedConfig {
  return resolveConfig({ sources: { tools: { scan: ".", include: "a.*" } }, ...parts }, { baseDir })
}

const adding = (key: string): string =>
  `export default (call, next) => next({ metadata: { ${key}: call.operationId } })`

describe("middleware of a hub's configuration", () => {
  test("is loaded from modules beside the configuration, and runs for operations of every source", async () => {
    const dir = await folder({ "b.js": OPERATION, "outer.mjs": adding("outer") })
    const middleware = [
      "./outer.mjs",
      {
        use: (_call: unknown, next: (change: object) => unknown) => next({ metadata: { own: 1 } }),
      },
      { use: "./outer.mjs", match: "other.*" },
    ]
    await using hub = createHub(config(dir, { middleware }), { logger: silentLogger })
    await hub.ready()
    const { data } = await hub.registry.execute("a.b", {})
    expect(data).toEqual({ outer: "a.b", own: 1, attempt: 1 })
  })

  test("that cannot be loaded lets no call through, and says why", async () => {
    const dir = await folder({ "b.js": OPERATION, "none.mjs": "export const x = 1" })
    const middleware = ["./none.mjs", "./missing.mjs"]
    await using hub = createHub(config(dir, { middleware }), { logger: silentLogger })
    await hub.ready()
    expect(await rejection(hub.registry.execute("a.b", {}))).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining(
        'The middleware "./none.mjs" of the configuration cannot be loaded: its default export must be a function',
      ),
    })
  })

  test("changes with the configuration; a mistake leaves that from before in use", async () => {
    const dir = await folder({
      "b.js": OPERATION,
      "one.mjs": adding("one"),
      "two.mjs": adding("two"),
    })
    await using hub = createHub(config(dir, { middleware: ["./one.mjs"] }), {
      logger: silentLogger,
    })
    await hub.ready()
    await hub.apply(config(dir, { middleware: ["./two.mjs"] }))
    expect((await hub.registry.execute("a.b", {})).data).toEqual({ two: "a.b", attempt: 1 })
    const mistake = await rejection(hub.apply(config(dir, { middleware: ["./three.mjs"] })))
    expect(mistake).toMatchObject({ message: expect.stringContaining('"./three.mjs"') })
    expect((await hub.registry.execute("a.b", {})).data).toEqual({ two: "a.b", attempt: 1 })
    await hub.apply(config(dir, {}))
    expect((await hub.registry.execute("a.b", {})).data).toEqual({ attempt: 1 })
  })
})

const COUNTING = `let runs = 0
export default {
  namespace: "a", name: "b", version: "1.0.0", type: "query", description: "x",
  inputSchema: {}, outputSchema: {}, accessControl: { requiredScopes: [] },
  resilience: { cache: { ttl: 60000 } },
  handler: () => ++runs,
}`

describe("policies of a hub's configuration", () => {
  const run = async (hub: ReturnType<typeof createHub>): Promise<unknown> =>
    (await hub.registry.execute("a.b", {})).data

  test("count before those of the source, and these before those of definitions; they change with it", async () => {
    const dir = await folder({ "b.js": COUNTING })
    await using hub = createHub(config(dir, {}), { logger: silentLogger })
    await hub.ready()
    expect([await run(hub), await run(hub)]).toEqual([1, 1])
    const off = { scan: ".", include: "a.*", resilience: { cache: false } }
    await hub.apply(config(dir, { sources: { tools: off } }))
    expect([await run(hub), await run(hub)]).toEqual([2, 3])
    const policies = [{ match: "a.*", cache: { ttl: 1000 } }]
    await hub.apply(config(dir, { sources: { tools: off }, policies }))
    expect([await run(hub), await run(hub)]).toEqual([4, 4])
  })

  test.each([
    [{ policies: [{ match: "a.*", retry: { atempts: 2 } }] }, "policies[0].retry.atempts"],
    [{ policies: [{ retry: {} }] }, "policies[0]"],
    [{ policies: { match: "x" } }, "policies"],
    [{ sources: { t: { scan: ".", resilience: "standart" } } }, "sources.t.resilience"],
    [
      { sources: { t: { scan: ".", resilience: { cache: { ttl: "1m" } } } } },
      "sources.t.resilience.cache.ttl",
    ],
    [{ middleware: [7] }, "middleware[0]"],
    [{ middleware: [{ use: "./x.js", mach: "a.*" }] }, "middleware[0].mach"],
  ])("that are wrong are refused with their place: %j", (parts, path) => {
    let faults: readonly { readonly path: string }[] = []
    try {
      resolveConfig(parts, { baseDir: "/" })
    } catch (error) {
      faults = (error as { faults: typeof faults }).faults
    }
    expect(faults.map((fault) => fault.path)).toEqual([path])
  })
})
