// Run by test/e2e/protocol-leaks.process.test.ts in a process of its own, with gc exposed. Takes the program of its threads
// and how much to do, and prints one JSON value.
import { createServer } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { Worker } from "node:worker_threads"
import { PendingRequestMap, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { CallError } from "../../src/index.ts"
import { createWebSocketTransport, serveWebSocket } from "../../src/websocket.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import { createLeakRegistry } from "./leak-operations.ts"

const gc = globalThis.gc as () => void
const warnings: string[] = []
process.on("warning", (warning) => warnings.push(String(warning)))

const workerFile = process.argv[2] as string
const load = Number(process.argv[3])

const leaks = createLeakRegistry()
const { registry } = leaks
const [signal, signalListeners] = counted(new AbortController().signal)
const [target, targetListeners] = counted(new EventTarget())
const quiet = { logger: silentLogger }

// Node opens these pipes when they are first used, which may be when a thread ends.
void [process.stdout, process.stderr]
const resourcesAtFirst = await resources()

const server = createServer()
const sockets = new Set<Socket>()
server.on("connection", (socket) => {
  sockets.add(socket)
  socket.once("close", () => sockets.delete(socket))
})
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
const socketServer = await serveWebSocket(registry, { server, ...quiet })
// It needs nothing of what this process was started with.
const worker = new Worker(workerFile, { execArgv: [] })

const loopback = new PendingRequestMap(undefined, quiet)
const served = [
  serveCalls(registry, { callMap: loopback, ...quiet }),
  serveCalls(registry, { transport: target, ...quiet }),
]
/** The ways to call, and how much of the load each takes. */
const lanes = [
  { share: 0.7, map: loopback },
  { share: 0.1, map: new PendingRequestMap(target, quiet) },
  { share: 0.1, map: new PendingRequestMap(createWorkerTransport(worker), quiet) },
  { share: 0.1, map: new PendingRequestMap(createWebSocketTransport(url), quiet) },
]

async function calls(count: number): Promise<void> {
  await each(count, async (map, at) => {
    const { data } = await map.call("leak.echo", { n: at }, at % 3 === 0 ? { signal } : undefined)
    if ((data as { n: number }).n !== at) throw new Error("Got the answer of another call.")
  })
}

async function aborts(count: number): Promise<number> {
  let codes = 0
  await each(count, async (map, at) => {
    const controller = new AbortController()
    const options = [{ signal: controller.signal }, { deadline: Date.now() + 2 }, { signal }][
      at % 3
    ]
    const call = map.call("leak.hang", {}, options)
    if (at % 3 === 0) setImmediate(() => controller.abort())
    if (at % 3 === 2) setImmediate(() => call.abort("enough"))
    const { code } = await call.then(
      () => ({ code: "none" }),
      (error: unknown) => error as CallError,
    )
    if (code === "ABORTED" || code === "TIMEOUT") codes++
  })
  return codes
}

async function streams(count: number): Promise<number> {
  let left = 0
  await each(count, async (map, at) => {
    for await (const { data } of map.subscribe("leak.ticks", {}, { signal })) {
      if (data === at % 5) break
    }
    left++
  })
  return left
}

/** Ends threads while they work for us, and we for them. */
async function killWorkers(count: number): Promise<number> {
  let lost = 0
  await batches(count, 10, async () => {
    const thread = new Worker(workerFile, { workerData: "calls back", execArgv: [] })
    const map = new PendingRequestMap(createWorkerTransport(thread), quiet)
    const working = serveCalls(registry, { callMap: map, ...quiet })
    await map.call("leak.running")
    const held = hold(map)
    await until(() => working.inFlight >= 2)
    await thread.terminate()
    const failed = await held
    lost += failed
    await until(() => working.inFlight === 0)
    await working.close()
    await map.close()
  })
  return lost
}

/** Cuts connections in the middle of a call and of a stream. */
async function killSockets(count: number): Promise<number> {
  let lost = 0
  const long = new Set(sockets)
  for (let done = 0; done < count; done += 10) {
    const maps = Array.from(
      { length: 10 },
      () => new PendingRequestMap(createWebSocketTransport(url), quiet),
    )
    const held = maps.map(hold)
    // Requests arrive in order: when this has its answer, those before it have begun.
    await Promise.all(maps.map((map) => map.call("leak.running")))
    for (const socket of sockets) if (!long.has(socket)) socket.destroy()
    for (const failed of await Promise.all(held)) lost += failed
    for (const map of maps) await map.close()
  }
  return lost
}

/** A call and a stream that are not over; counts which of them fail as they should. */
async function hold(map: PendingRequestMap): Promise<number> {
  const codes = await Promise.allSettled([
    map.call("leak.hang", {}, { signal }),
    (async () => {
      for await (const _item of map.subscribe("leak.drip", {}, { signal })) continue
    })(),
  ])
  return codes.filter(
    (result) =>
      result.status === "rejected" &&
      ["UNAVAILABLE", "WORKER_LOST"].includes((result.reason as CallError).code),
  ).length
}

async function each(
  count: number,
  run: (map: PendingRequestMap, at: number) => Promise<void>,
): Promise<void> {
  for (const { share, map } of lanes) {
    let at = 0
    await batches(count * share, 100, () => run(map, at++))
  }
}

async function batches(count: number, size: number, run: () => Promise<void>): Promise<void> {
  for (let done = 0; done < Math.round(count); done += size) {
    await Promise.all(Array.from({ length: Math.min(size, Math.round(count) - done) }, run))
  }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries++) {
    if (tries > 2000) throw new Error(`Waited in vain for ${String(isSo)}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function counted<TTarget extends EventTarget>(it: TTarget): [TTarget, () => number] {
  const held = new Map<unknown, number>()
  const add = it.addEventListener.bind(it)
  const remove = it.removeEventListener.bind(it)
  it.addEventListener = (...args: Parameters<typeof add>) => {
    held.set(args[1], (held.get(args[1]) ?? 0) + 1)
    add(...args)
  }
  it.removeEventListener = (...args: Parameters<typeof remove>) => {
    held.set(args[1], Math.max(0, (held.get(args[1]) ?? 0) - 1))
    remove(...args)
  }
  return [it, () => [...held.values()].reduce((sum, count) => sum + count, 0)]
}

async function settled(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    gc()
  }
  return process.memoryUsage().heapUsed
}

async function resources(): Promise<string[]> {
  await settled()
  return process.getActiveResourcesInfo().toSorted()
}

/** How many calls and handlers are left anywhere. */
async function leftOver(): Promise<Record<string, number>> {
  const far = lanes[2]?.map as PendingRequestMap
  await until(async () => (await far.call("leak.running")).data === 0 && leaks.running() === 0)
  return {
    pending: lanes.reduce((sum, { map }) => sum + map.getPendingCount(), 0),
    serving: served.reduce((sum, { inFlight }) => sum + inFlight, 0),
    running: leaks.running(),
  }
}

// One that ends by itself: what it compiled is kept for all others.
const first = new Worker(workerFile, { workerData: "ends", execArgv: [] })
await new Promise((resolve) => first.once("exit", resolve))
// Warm everything up first: compiled schemas and optimised code are not leaks.
await calls(5000)
await aborts(500)
await streams(100)
await killWorkers(10)
await killSockets(10)
await leftOver()
const resourcesBefore = await resources()
const listenersBefore = targetListeners()
const before = await settled()
const started = Date.now()
const took: Record<string, number> = {}
const lap = (name: string): void => void (took[name] = Date.now() - started)
await calls(load * 1000)
lap("calls")
const aborted = await aborts(load * 100)
lap("aborts")
const left = await streams(load * 10)
lap("streams")
const workersLost = await killWorkers(load * 2)
lap("workers")
const socketsLost = await killSockets(load * 2)
lap("sockets")
const over = await leftOver()
const after = await settled()
const resourcesAfter = await resources()
const connections = [sockets.size, socketServer.connections]
const targetGrown = targetListeners() - listenersBefore

for (const { map } of lanes) await map.close()
for (const one of served) await one.close()
await socketServer.close()
await worker.terminate()
await new Promise((resolve) => server.close(resolve))
await registry.close()
connections.push(sockets.size, socketServer.connections)
const resourcesAtLast = await resources()

process.stdout.write(
  JSON.stringify({
    ...over,
    aborted,
    left,
    workersLost,
    socketsLost,
    connections,
    grownKilobytes: Math.round((after - before) / 1024),
    targetGrown,
    targetListeners: targetListeners(),
    signalListeners: signalListeners(),
    resourcesBefore,
    resourcesAfter,
    resourcesAtFirst,
    resourcesAtLast,
    warnings,
    took,
  }),
)
