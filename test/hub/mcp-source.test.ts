import { expect, test, vi } from "vitest"
import type { MCPSource } from "../../src/config.ts"
import type { OpenSource, SourceContext } from "../../src/hub/model.ts"
import { mcp as mcpSource } from "../../src/hub/sources/mcp.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { sourceOf } from "./plain.ts"

type Event = { readonly type: string; readonly error?: unknown }

const server = vi.hoisted(() => ({
  configs: [] as unknown[],
  tell: (_: Event): void => {},
  reconnect: (): Promise<void> => Promise.resolve(),
  operations: [] as unknown[],
}))

vi.mock("../../src/sources/mcp/client/wrapper.ts", () => ({
  connectClient: (_: string, config: unknown) => {
    server.configs.push(config)
    return Promise.resolve({
      operations: server.operations,
      warnings: ["careful"],
      status: () => ({ quarantined: ["changed"] }),
      onToolsChanged: () => () => {},
      close: () => Promise.resolve(),
      client: {
        onEvent: (listener: (event: Event) => void) => {
          server.tell = listener
          return () => {}
        },
        reconnect: () => server.reconnect(),
      },
    })
  },
}))

/** Timers that run when they are told to. */
class Timers {
  readonly waiting = new Map<number, { readonly run: () => void; readonly delay: number }>()
  time = 0
  #last = 0
  now(): number {
    return this.time
  }
  setTimeout(run: () => void, delay: number): number {
    this.waiting.set(++this.#last, { run, delay })
    return this.#last
  }
  clearTimeout(id: unknown): void {
    this.waiting.delete(id as number)
  }
  async next(): Promise<number | undefined> {
    const [first] = this.waiting
    if (first === undefined) return undefined
    this.waiting.delete(first[0])
    first[1].run()
    await new Promise((resolve) => setImmediate(resolve))
    return first[1].delay
  }
}

async function open(
  given: Omit<MCPSource, "namespace">,
  more: Partial<SourceContext> = {},
): Promise<{ source: OpenSource; timers: Timers; config: unknown; health: unknown[] }> {
  const timers = new Timers()
  const source = await mcpSource.open(
    { ...sourceOf("tools", given), config: given },
    {
      baseDir: "/base",
      logger: silentLogger,
      clock: timers,
      signal: new AbortController().signal,
      originId: "hub",
      retries: true,
      resolve: (text) => Promise.resolve(text),
      ...more,
    },
  )
  const health: unknown[] = []
  source.onHealth?.((reason) => health.push(reason))
  return { source, timers, config: server.configs.at(-1), health }
}

test("an MCP source accepts URLs, command lines and entries", async () => {
  expect((await open({ mcp: " HTTPS://a.test/mcp " })).config).toMatchObject({
    url: "HTTPS://a.test/mcp",
    forwardInput: true,
  })
  expect((await open({ mcp: "node 'a b.js'", env: { A: "1" } })).config).toMatchObject({
    cwd: "/base",
    env: { A: "1" },
  })
  const entry = { url: "http://a.test/", headers: { a: "1", b: "1" } }
  expect((await open({ mcp: entry, headers: { b: "2" } })).config).toMatchObject({
    headers: { a: "1", b: "2" },
  })
  expect((await open({ mcp: "http://a.test/", headers: { b: "2" } })).config).toMatchObject({
    headers: { b: "2" },
  })
})

test.each(["", "  ", "node 'a"])("an MCP source refuses the command line %j", async (mcp) => {
  await expect(open({ mcp })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    message: expect.stringContaining('Source "tools", mcp: the command line') as string,
  })
})

test("an MCP source reports the outcome of each tool", async () => {
  const mcp = { tool: { name: "Odd Name" }, diagnostics: ["a part is left out"] }
  server.operations = [
    { namespace: "tools", name: "odd", _meta: { mcp } },
    { namespace: "tools", name: "plain" },
    { namespace: "tools", name: "bare", _meta: { mcp: { diagnostics: "none" } } },
  ]
  const { source } = await open({ mcp: "node a" })
  const { items, warnings } = source.report()
  expect(warnings).toEqual(["careful"])
  expect(items).toMatchObject([
    { id: "tools.odd", origin: "Odd Name", status: "widened", notes: ["a part is left out"] },
    { id: "tools.plain", origin: "plain", status: "kept", notes: [] },
    { id: "tools.bare", origin: "bare", status: "kept", notes: [] },
    { origin: "changed", status: "skipped" },
  ])
})

test("a lost MCP server is reconnected with increasing delays", async () => {
  const { source, timers, health } = await open({ mcp: "node a" })
  server.tell({ type: "connected" })
  server.tell({ type: "other" })
  expect(health).toEqual([])
  server.reconnect = () => Promise.reject(new Error("still down"))
  server.tell({ type: "lost", error: new Error("gone") })
  server.tell({ type: "lost", error: new Error("gone") })
  expect(timers.waiting.size).toBe(1)
  expect(await timers.next()).toBe(100)
  expect(health).toEqual(["gone", "gone", "still down"])
  server.reconnect = () => Promise.resolve()
  expect(await timers.next()).toBeGreaterThan(100)
  expect(health.at(-1)).toBeUndefined()
  expect(timers.waiting.size).toBe(0)
  timers.time += 30_000
  server.tell({ type: "lost", error: new Error("again") })
  server.tell({ type: "connected" })
  server.reconnect = () => Promise.reject(new Error("not to be asked"))
  expect(await timers.next()).toBe(100)
  expect(health.slice(-2)).toEqual(["again", undefined])
  await source.close()
})

test("an MCP server that exits soon after each start is restarted with increasing delays", async () => {
  const { source, timers } = await open({ mcp: "node a" })
  server.reconnect = () => Promise.resolve()
  let restarts = 0
  while (timers.time < 30_000) {
    timers.time += 400
    server.tell({ type: "lost", error: new Error("crashed") })
    timers.time += (await timers.next()) ?? Number.POSITIVE_INFINITY
    restarts++
  }
  expect(restarts).toBeLessThan(9)
  // One that lasts is restarted soon again.
  timers.time += 30_000
  server.tell({ type: "lost", error: new Error("crashed") })
  expect(await timers.next()).toBe(100)
  await source.close()
})

test("an MCP source does not reconnect without retries, or after close", async () => {
  const once = await open({ mcp: "node a" }, { retries: false })
  server.tell({ type: "lost", error: "gone" })
  expect(once.timers.waiting.size).toBe(0)
  const { source, timers, health } = await open({ mcp: "node a" })
  server.tell({ type: "lost", error: new Error("gone") })
  server.reconnect = async () => {
    await source.close()
    throw new Error("closed meanwhile")
  }
  await timers.next()
  expect(health).toEqual(["gone"])
  server.tell({ type: "lost", error: new Error("late") })
  expect(timers.waiting.size).toBe(0)
})
