// A host that uses servers hard, and then says what is left of it.

import { createMCPClient, MCPClientLoader } from "../../../../src/from-mcp.ts"
import { createRegistry } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"

const [command = "", script = "", url = "", what = ""] = process.argv.slice(2)
const listeners = (): number => process.listenerCount("exit") - atStart
const atStart = process.listenerCount("exit")
const stdio = { command, args: [script], logger: silentLogger }
const collect = (globalThis as unknown as { gc: () => void }).gc

async function heap(): Promise<number> {
  // What is let go of by one collection is often seen only by the next; code that is not used, by the sixth.
  for (let turn = 0; turn < 8; turn++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return process.memoryUsage().heapUsed
}

/**
 * Growth in bytes for each time something is done, after it was done for a while.
 *
 * The least of three: what leaks grows each time, what compilers and pools keep does not.
 */
async function growth(times: number, run: () => Promise<unknown>): Promise<number> {
  const part = Math.ceil(times / 2)
  for (let turn = 0; turn < part; turn++) await run()
  let least = Number.POSITIVE_INFINITY
  let before = await heap()
  for (let round = 0; round < 3; round++) {
    for (let turn = 0; turn < part; turn++) await run()
    const after = await heap()
    least = Math.min(least, (after - before) / part)
    before = after
  }
  return Math.round(least)
}

const RUNS: Record<string, () => Promise<object>> = {
  async calls() {
    await using child = await createMCPClient("child", stdio)
    await using remote = await createMCPClient("remote", { url, logger: silentLogger })
    const registry = createRegistry([], { logger: silentLogger })
    child.registerAll(registry)
    remote.registerAll(registry)
    const overStdio = await growth(2000, () => registry.execute("child.echo", { text: "x" }))
    const overHttp = await growth(1000, () => registry.execute("remote.echo", { text: "x" }))
    const failing = await growth(500, () =>
      registry.execute("child.rpc_error", { code: 1 }).catch(() => undefined),
    )
    const aborted = await growth(300, () =>
      registry.execute("child.hang", {}, { timeout: 1 }).catch(() => undefined),
    )
    return { overStdio, overHttp, failing, aborted }
  },
  async restarts() {
    await using child = await createMCPClient("child", stdio)
    const registry = createRegistry([], { logger: silentLogger })
    child.registerAll(registry)
    const perRestart = await growth(40, () => child.client.reconnect())
    await registry.execute("child.echo", { text: "x" })
    return { perRestart, listeners: listeners() }
  },
  async failures() {
    const loader = new MCPClientLoader({ logger: silentLogger })
    const servers = {
      gone: { command: "/nowhere/prog" },
      dead: { command, args: ["-e", "process.exit(1)"] },
      mute: { command, args: ["-e", "setInterval(() => {}, 1e9)"], connectTimeout: 300 },
      refused: { url: "http://127.0.0.1:1/mcp" },
      silent: { url: `${url.replace("/mcp", "")}/silent`, connectTimeout: 300 },
      good: { command, args: [script] },
      remote: { url },
    }
    await loader.load({ mcpServers: servers })
    const states = Object.values(loader.status()).map(({ status }) => status)
    await loader.closeAll()
    return { states }
  },
}

const say = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`)

const found = await RUNS[what]?.()
const ended = performance.now()
say({ ...found, exitListeners: listeners() })
// Nothing calls `process.exit`: a host that does not end by itself is the fault that is looked for.
process.once("beforeExit", () => {
  const left = process.getActiveResourcesInfo().filter((name) => !/^(TTY|Pipe|FS)/.test(name))
  say({ left, took: performance.now() - ended })
})
