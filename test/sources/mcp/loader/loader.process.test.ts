import { readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { MCPClientLoader } from "../../../../src/from-mcp.ts"
import type { MCPClientLoaderOptions } from "../../../../src/from-mcp.ts"
import { silentLogger } from "../../../../src/testing.ts"
import { operation, quietRegistry, rejection, thrown } from "../../../support/operations.ts"
import { serveAwkward } from "../awkward/http.ts"
import { awkward } from "../support/awkward.ts"
import { waitFor } from "../../../support/wait-for.ts"
import { TOO_LONG } from "../../../support/patience.ts"

let pidFile: string

beforeEach(() => {
  pidFile = join(tmpdir(), `loader-${process.pid}-${Math.random().toString(36).slice(2)}`)
})

afterEach(() => rmSync(pidFile, { force: true }))

function loaderWith(options: MCPClientLoaderOptions = {}): MCPClientLoader {
  return new MCPClientLoader({ logger: silentLogger, ...options })
}

function startedPids(): number[] {
  return readFileSync(pidFile, "utf8").trim().split(/\s+/).map(Number)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe("MCPClientLoader.load", () => {
  test("connects several servers, and one that fails hides nobody", async () => {
    await using http = await serveAwkward({ only: "echo,add" })
    await using loader = loaderWith()

    const loaded = await loader.load({
      mcpServers: {
        local: awkward({ only: "echo" }),
        remote: { type: "http", url: http.url },
        broken: awkward({ crashAtStart: true }),
        listless: awkward({ listFails: true }),
        missing: { command: "/no/such/program-at-all" },
        unset: { command: "node", env: { KEY: "${SURELY_NOT_SET_ANYWHERE}" } },
        neither: {},
        off: { command: "node", disabled: true },
      },
    })

    expect(loaded.map(({ name }) => name).toSorted()).toEqual(["local", "remote"])
    expect(Object.keys(loaded)).toEqual(["0", "1"])
    const { servers } = loaded
    expect(servers["local"]).toMatchObject({ status: "ready", tools: 1, era: "legacy" })
    expect(servers["remote"]).toMatchObject({ status: "ready", tools: 2, era: "modern" })
    expect(servers["broken"]).toMatchObject({
      status: "failed",
      tools: 0,
      error: { code: "UNAVAILABLE" },
    })
    expect(servers["broken"]?.stderrTail).toBeTruthy()
    expect(servers["listless"]).toMatchObject({ status: "failed" })
    expect(servers["missing"]?.error?.message).toContain("/no/such/program-at-all")
    expect(servers["unset"]?.error?.message).toContain("SURELY_NOT_SET_ANYWHERE")
    expect(servers["neither"]?.error).toMatchObject({ code: "VALIDATION_ERROR" })
    expect(servers["off"]).toMatchObject({ status: "disabled" })
    expect(loader.status()).toEqual(servers)
    expect(loader.eras()).toEqual({ local: "legacy", remote: "modern" })
  })

  test("connects at the same time, and waits for each only as long as it says", async () => {
    await using loader = loaderWith({ defaults: { connectTimeout: 3000 } })
    const started = Date.now()

    const { servers } = await loader.load({
      a: awkward({ hangAtStart: true }),
      b: awkward({ hangAtStart: true }),
      c: awkward({ hangAtStart: true }),
    })

    expect(Object.values(servers).map(({ error }) => error?.code)).toEqual([
      "TIMEOUT",
      "TIMEOUT",
      "TIMEOUT",
    ])
    expect(Date.now() - started).toBeLessThan(8900)
  })

  test("leaves no process of a server that failed", async () => {
    await using loader = loaderWith()

    await loader.load({ a: awkward({ listFails: true, ignoreEof: true, pidFile }) })

    expect(startedPids().filter(isAlive)).toEqual([])
  })

  test("refuses what is no configuration at all", async () => {
    await using loader = loaderWith()

    expect(await rejection(loader.load(17))).toMatchObject({ code: "VALIDATION_ERROR" })
  })

  test("reads the text of a file, comments and variables included", async () => {
    const { command, args } = awkward({ only: "echo" })
    await using loader = loaderWith({
      env: (name) => (name === "NODE" ? command : undefined),
      inputs: ({ id }) => (id === "flag" ? args[1] : undefined),
    })

    const loaded = await loader.load(`{
      // as VS Code has it
      "servers": { "notes": { "command": "\${env:NODE}", "args": [${JSON.stringify(args[0])}, "\${input:flag}"] } },
      "inputs": [{ "id": "flag", "type": "promptString" }],
    }`)

    expect(loaded[0]?.tools.map(({ name }) => name)).toEqual(["echo"])
  })

  test("a server of the same name takes the place of the old one, which is closed then", async () => {
    await using loader = loaderWith()
    const registry = quietRegistry()
    loader.registerAll(registry)
    await loader.load({ a: awkward({ only: "echo,add", pidFile }) })
    const seen: string[] = []
    registry.onChange(({ type, id }) => seen.push(`${type} ${id}`))

    const [wrapper] = await loader.load({ a: awkward({ only: "echo,blocks" }) })

    expect(seen).toEqual(["removed a.add", "replaced a.echo", "added a.blocks"])
    expect(startedPids().filter(isAlive)).toEqual([])
    expect(loader.getAllWrappers()).toEqual([wrapper])
    expect((await registry.execute("a.echo", { text: "hi" })).meta).toMatchObject({
      isError: false,
    })
  })

  test("a server that cannot be loaded again stays as it was", async () => {
    await using loader = loaderWith()
    const registry = quietRegistry()
    await loader.load({ a: awkward({ only: "echo" }) })
    loader.registerAll(registry)

    const loaded = await loader.load({ a: awkward({ crashAtStart: true }) })

    expect([...loaded]).toEqual([])
    expect(loaded.servers["a"]).toMatchObject({ status: "failed" })
    expect(loader.status()["a"]).toMatchObject({ status: "ready", tools: 1 })
    expect(loader.status()["a"]?.warnings.join()).toContain("Loading it again failed")
    expect(registry.has("a.echo")).toBe(true)
  })

  test("a server that is switched off goes away", async () => {
    await using loader = loaderWith()
    const registry = quietRegistry()
    loader.registerAll(registry)
    await loader.load({ a: awkward({ only: "echo", pidFile }) })

    await loader.load({ a: { ...awkward(), disabled: true } })

    expect(registry.list()).toEqual([])
    expect(loader.status()["a"]).toMatchObject({ status: "disabled" })
    expect(startedPids().filter(isAlive)).toEqual([])
  })

  test("two servers never write into one namespace", async () => {
    await using loader = loaderWith()
    await loader.load({ a: { ...awkward({ more: true }), resources: true } })

    const { servers } = await loader.load({ "a-resources": awkward({ only: "echo" }) })
    const both = await loader.load({
      b: { ...awkward(), prompts: true },
      "b-prompts": awkward({ only: "echo" }),
    })

    expect(servers["a-resources"]?.error).toMatchObject({ code: "CONFLICT" })
    expect(both).toHaveLength(1)
  })

  test("what is remembered of a server is a hint, and is found out again when it is wrong", async () => {
    const first = loaderWith()
    await first.load({ a: awkward({ era: "modern", only: "echo" }) })
    expect(first.eras()).toEqual({ a: "modern" })
    await first.closeAll()
    await using second = loaderWith({ eras: { a: "modern", b: "modern" } })

    const { servers } = await second.load({
      a: awkward({ era: "modern", only: "echo" }),
      b: awkward({ era: "legacy", only: "echo" }),
    })

    expect(servers).toMatchObject({
      a: { status: "ready", era: "modern" },
      b: { status: "ready", era: "legacy" },
    })
    expect(second.eras()).toEqual({ a: "modern", b: "legacy" })
  })

  test("says nothing secret in its log and its status", async () => {
    await using http = await serveAwkward({ token: "right" })
    const lines: unknown[] = []
    const note = (...line: unknown[]): void => void lines.push(line)
    await using loader = loaderWith({
      logger: { debug: note, info: note, warn: note, error: note },
      env: (name) => (name === "SECRET" ? "hunter2-hunter2" : undefined),
    })

    await loader.load({
      a: { url: `${http.url}?key=hunter2-hunter2`, headers: { "X-Key": "${SECRET}" } },
      b: {
        ...awkward({ listFails: true, stderr: "it is hunter2-hunter2" }),
        env: { PASS: "${SECRET}" },
      },
      c: { command: "/no/such/program", args: ["--token", "${SECRET}"] },
    })

    expect(loader.status()["a"]).toMatchObject({ error: { code: "UNAUTHENTICATED" } })
    expect(loader.status()["b"]?.stderrTail).toBe("it is ***\n")
    expect(JSON.stringify([lines, loader.status()])).not.toContain("hunter2")
  })
})

describe("MCPClientLoader.registerAll", () => {
  test("follows servers that change and servers that come later, until it is stopped", async () => {
    await using loader = loaderWith()
    await loader.load({ a: awkward({ only: "echo,change" }) })
    const registry = quietRegistry()
    const stop = loader.registerAll(registry)

    await loader.load({ b: awkward({ only: "add" }) })
    await registry.execute("a.change", { add: { name: "fresh", inputSchema: { type: "object" } } })
    await waitFor(() => expect(registry.has("a.fresh")).toBe(true))
    await registry.execute("a.change", { remove: "echo" })
    await waitFor(() => expect(registry.has("a.echo")).toBe(false))

    expect(
      registry
        .list()
        .map(({ namespace, name }) => `${namespace}.${name}`)
        .toSorted(),
    ).toEqual(["a.change", "a.fresh", "b.add"])
    stop()
    expect(registry.list()).toEqual([])
  })

  test("lets go of a server that somebody else closes", async () => {
    await using loader = loaderWith()
    await loader.load({ a: awkward({ only: "echo" }), b: awkward({ only: "echo" }) })
    const registry = quietRegistry()
    loader.registerAll(registry)

    await loader.getClient("a")?.close()

    expect(registry.list().map(({ namespace }) => namespace)).toEqual(["b"])
    expect(Object.keys(loader.status())).toEqual(["b"])
  })

  test("registers all or none", async () => {
    await using loader = loaderWith()
    await loader.load({ a: awkward({ only: "echo" }), b: awkward({ only: "echo" }) })
    const registry = quietRegistry([operation("b.echo", { handler: () => "mine" })])

    expect(thrown(() => loader.registerAll(registry))).toMatchObject({ code: "CONFLICT" })
    expect(registry.list()).toHaveLength(1)
  })
})

describe("MCPClientLoader.reconnect", () => {
  test("brings back a server that failed, and one that is gone", async () => {
    await using loader = loaderWith()
    const once = `${pidFile}-once`
    await loader.load({ a: awkward({ crashAtStart: true, once }) })
    expect(loader.status()["a"]).toMatchObject({ status: "failed" })
    const registry = quietRegistry()
    loader.registerAll(registry)

    const wrapper = await loader.reconnect("a")

    expect(wrapper.status()).toMatchObject({ status: "ready" })
    expect(registry.has("a.echo")).toBe(true)
    const pid = loader.status()["a"]?.pid
    await loader.reconnect("a")
    expect(loader.status()["a"]).toMatchObject({ status: "ready", restarts: 1 })
    expect(loader.status()["a"]?.pid).not.toBe(pid)
    rmSync(once, { force: true })
  })

  test("fails for one that still fails, and for one that is switched off", async () => {
    await using loader = loaderWith()
    await loader.load({ a: awkward({ crashAtStart: true }), off: { ...awkward(), disabled: true } })

    expect(await rejection(loader.reconnect("a"))).toMatchObject({ code: "UNAVAILABLE" })
    expect(await rejection(loader.reconnect("off"))).toMatchObject({ code: "UNAVAILABLE" })
    expect(loader.getAllWrappers()).toEqual([])
  })

  test("says what is loaded when a server is not", async () => {
    await using loader = loaderWith()

    expect(await rejection(loader.reconnect("nobody"))).toMatchObject({
      code: "OPERATION_NOT_FOUND",
      message: 'No MCP server "nobody" is loaded. Loaded: none.',
    })
  })
})

describe("MCPClientLoader.closeAll", () => {
  test("closes every server at the same time, is fine twice, and leaves nothing", async () => {
    const loader = loaderWith()
    const registry = quietRegistry()
    loader.registerAll(registry)
    await loader.load({
      a: awkward({ ignoreEof: true, ignoreTerm: true, pidFile }),
      b: awkward({ ignoreEof: true, ignoreTerm: true }),
    })
    const started = Date.now()

    await Promise.all([loader.closeAll(), loader.closeAll()])
    await loader.closeAll()

    expect(Date.now() - started).toBeLessThan(TOO_LONG)
    expect(registry.list()).toEqual([])
    expect(loader.status()).toEqual({})
    expect(startedPids().filter(isAlive)).toEqual([])
  })

  test("ends what is still being loaded", async () => {
    const loader = loaderWith({ concurrency: 1 })
    const loading = loader.load({
      a: awkward({ hangAtStart: true, pidFile }),
      b: awkward({ only: "echo" }),
    })
    await waitFor(() => expect(startedPids()).toHaveLength(1))

    await loader.closeAll()
    const loaded = await loading

    expect([...loaded]).toEqual([])
    expect(loaded.servers["a"]).toMatchObject({ status: "failed", error: { code: "ABORTED" } })
    expect(loader.status()).toEqual({})
    expect(startedPids().filter(isAlive)).toEqual([])
  })

  test("can be followed by another load", async () => {
    await using loader = loaderWith()
    await loader.load({ a: awkward({ only: "echo" }) })
    await loader.closeAll()

    const loaded = await loader.load({ a: awkward({ only: "add" }) })

    expect(loaded[0]?.tools.map(({ name }) => name)).toEqual(["add"])
  })
})
