import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { startNatsServer } from "./cluster/nats-server.ts"
import { startWorker } from "./cluster/processes.ts"
import type { WorkerProcess } from "./cluster/processes.ts"
// #region start
import { createClient, isCallError } from "@alkdev/operations"
import { silentLogger } from "@alkdev/operations/testing"
import { resolveConfig } from "@alkdev/operations/config"
import { createNatsTransport } from "@alkdev/operations/nats"
import { createHub } from "@alkdev/operations/node"
import type { Shop } from "./cluster/shop.ts"

const folder = mkdtempSync(join(tmpdir(), "cluster-"))
const journal = join(folder, "journal")
await using nats = await startNatsServer()
let workers = await Promise.all(["a", "b", "c"].map((name) => startWorker(name, nats.url, journal)))

const config = resolveConfig({ sources: { shop: { remote: nats.url } } }, { baseDir: folder })
await using hub = createHub(config, { logger: silentLogger })
await hub.ready()

for (const { name, state, operations } of hub.sources) console.log(name, state, operations)
// #endregion

// #region spread
const quotes = await many(300, (at) =>
  hub.registry.execute("shop.order.quote", { pieces: at + 1 }).then(({ data }) => data as Quote),
)
const names = new Set(quotes.map(({ value }) => value?.worker ?? "none"))
console.log(`300 quotes: ${tally(quotes)}; by ${names.size > 1 ? "several workers" : "one worker"}`)
// #endregion

// #region killed
const orders = many(60, (order) => hub.registry.execute("shop.order.place", { order, takes: 1000 }))
const busy = await findBusy(workers)
const asked = many(60, (at) => hub.registry.execute("shop.order.quote", { pieces: at + 1 }))
await busy.crash()

console.log(`60 quotes, one worker killed: ${tally(await asked)}`)
const outcomes = new Set((await orders).map(({ outcome }) => outcome))
console.log(`60 orders, one worker killed: ${[...outcomes].toSorted().join(", ")}`)
console.log(`ran twice: ${twice()}`)
// #endregion

// #region rolling
let isRolling = true
const served = Promise.all(Array.from({ length: 8 }, (_, lane) => placeOrders(lane)))
workers = await replaceAll(workers.filter((worker) => worker !== busy))
isRolling = false
console.log(`rolling restart under load: ${(await served).flat().length} failed calls`)
console.log(`ran twice: ${twice()}`)
// #endregion

// #region client
const client = createClient<Shop>(createNatsTransport({ servers: nats.url }))
for await (const { data } of client.order.follow({ order: 7 })) {
  console.log(`order ${data.order} is at station ${data.station}`)
  if (data.station === 3) break
}
await client.close()
// #endregion

// #region nobody
await Promise.all(workers.map((worker) => worker.stop()))
try {
  await hub.registry.execute("shop.order.quote", { pieces: 1 })
} catch (error) {
  if (isCallError(error)) console.log(error.code, error.retryable, error.mayHaveExecuted)
}
// #endregion

rmSync(folder, { recursive: true })

interface Quote {
  readonly price: number
  readonly worker: string
}

interface Settled<TValue> {
  readonly outcome: string
  readonly value?: TValue
}

/** Makes calls concurrently and returns the outcome of each. */
async function many<TValue>(
  count: number,
  call: (at: number) => Promise<TValue>,
): Promise<Settled<TValue>[]> {
  return await Promise.all(
    Array.from({ length: count }, async (_, at): Promise<Settled<TValue>> => {
      try {
        return { outcome: "ok", value: await call(at) }
      } catch (error) {
        if (!isCallError(error)) throw error
        const { code, retryable, mayHaveExecuted } = error
        return { outcome: `${code} (retryable ${retryable}, mayHaveExecuted ${mayHaveExecuted})` }
      }
    }),
  )
}

function tally(settled: readonly Settled<unknown>[]): string {
  const counts = new Map<string, number>()
  for (const { outcome } of settled) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(", ")
}

/** Places orders one after the other while workers come and go; returns the failures. */
async function placeOrders(lane: number): Promise<string[]> {
  const failed: string[] = []
  for (let order = lane * 100_000 + 1000; isRolling; order++) {
    const [settled] = await many(1, () =>
      hub.registry.execute("shop.order.place", { order, takes: 20 }),
    )
    if (settled?.outcome !== "ok") failed.push(settled?.outcome ?? "")
  }
  return failed
}

/** Replaces each worker: the new one starts, then the old one finishes its calls and stops. */
async function replaceAll(old: readonly WorkerProcess[]): Promise<WorkerProcess[]> {
  const fresh: WorkerProcess[] = []
  for (const worker of old) {
    fresh.push(await startWorker(`${worker.name}2`, nats.url, journal))
    await worker.stop()
  }
  return fresh
}

/** Orders that were started, with the worker of each. */
function begun(): { readonly order: string; readonly worker: string }[] {
  const lines = existsSync(journal) ? readFileSync(journal, "utf8").trim().split("\n") : []
  return lines.map((line) => {
    const [order = "", worker = ""] = line.split(" ")
    return { order, worker }
  })
}

/** A worker that has started an order, as soon as there is one. */
async function findBusy(all: readonly WorkerProcess[]): Promise<WorkerProcess> {
  for (;;) {
    const found = all.find(({ name }) => begun().some(({ worker }) => worker === name))
    if (found !== undefined) return found
    await sleep(10)
  }
}

/** Orders that were started more than once. */
function twice(): number {
  const all = begun().map(({ order }) => order)
  return all.length - new Set(all).size
}
