import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { silentLogger } from "../../../src/testing.ts"
import { createHub, loadConfig, serveHub } from "../../../src/node.ts"
import type { Hub, ServedHub } from "../../../src/node.ts"
import { provideNats, provideRedis, startNats, startRedis } from "../../../test/support/brokers.ts"
import type { Broker } from "../../../test/support/brokers.ts"
import { ROOT, sourceOf } from "../../../test/hub/plain.ts"
import { program } from "../../../test/sources/mcp/support/program.ts"
import { PROCESS_PATIENCE } from "../../../test/support/patience.ts"

/** A broker with one worker. */
interface Bus {
  readonly name: "nats" | "redis"
  readonly broker: Broker
  worker: ChildProcess
}

/** Something that breaks and recovers. */
export interface Fault {
  readonly name: string
  inject(): Promise<void>
}

/** The demo's hub with further sources: operations of the soak run, and a worker behind each broker there is. */
export interface SoakHub extends AsyncDisposable {
  readonly hub: Hub
  readonly served: ServedHub
  readonly buses: readonly Bus[]
  readonly faults: readonly Fault[]
  /** Resolves when every source is ready. */
  recovered(): Promise<void>
}

/** Starts the hub. Close it when you are done. */
export async function startSoakHub(): Promise<SoakHub> {
  const buses: Bus[] = []
  if (await provideNats()) buses.push(await startBus("nats", await startNats()))
  if (await provideRedis()) buses.push(await startBus("redis", await startRedis()))
  const config = await loadConfig(join(ROOT, "demo/operations.config.ts"))
  const sources = [
    ...config.sources,
    sourceOf("soak", { scan: join(import.meta.dirname, "operations") }),
    ...buses.map(({ name, broker }) => sourceOf(name, { remote: broker.url })),
  ]
  const hub = createHub({ ...config, sources }, { logger: silentLogger })
  await hub.ready()
  const served = await serveHub(hub, { port: 0, console: false })
  return {
    hub,
    served,
    buses,
    faults: [
      { name: "MCP child killed", inject: async () => killChildOf("notes-server") },
      ...buses.map((bus): Fault => ({
        name: `${bus.name} restarted`,
        inject: () => bus.broker.restart(),
      })),
      ...buses.map((bus): Fault => ({
        name: `${bus.name} worker killed`,
        inject: () => replaceWorker(bus),
      })),
    ],
    recovered: () => allReady(hub),
    async [Symbol.asyncDispose]() {
      await served.close()
      await hub.close()
      for (const { broker, worker } of buses) {
        worker.kill("SIGKILL")
        await broker[Symbol.asyncDispose]()
      }
    },
  }
}

async function allReady(hub: Hub): Promise<void> {
  for (const began = performance.now(); ; await sleep(20)) {
    const waiting = hub.sources.filter(({ state }) => state !== "ready")
    if (waiting.length === 0) return
    if (performance.now() - began < PROCESS_PATIENCE) continue
    const reasons = waiting.map(({ name, state, reason }) => `"${name}" is ${state}: ${reason}`)
    throw new Error(`Sources do not recover. ${reasons.join("; ")}`)
  }
}

const workers = new Set<ChildProcess>()
process.once("exit", () => {
  for (const worker of workers) worker.kill("SIGKILL")
})

async function startBus(name: Bus["name"], broker: Broker): Promise<Bus> {
  return { name, broker, worker: await startWorker(broker.url) }
}

async function startWorker(url: string): Promise<ChildProcess> {
  const args = [program(join(ROOT, "test/hub/bus-worker.ts")), url, JSON.stringify({ name: "a" })]
  const worker = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  workers.add(worker)
  worker.once("exit", () => workers.delete(worker))
  await once(worker.stdout, "data")
  return worker
}

async function replaceWorker(bus: Bus): Promise<void> {
  bus.worker.kill("SIGKILL")
  await once(bus.worker, "exit")
  bus.worker = await startWorker(bus.broker.url)
}

function killChildOf(word: string): void {
  const child = childrenOf(process.pid).find(({ command }) => command.includes(word))
  // It is just being restarted.
  if (child !== undefined) process.kill(child.pid, "SIGKILL")
}

/** The processes that a process started and that still run. */
export function childrenOf(parent: number): { readonly pid: number; readonly command: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, "utf8")
        if (Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]) !== parent) return []
        return [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, "utf8") }]
      } catch {
        return []
      }
    })
}
