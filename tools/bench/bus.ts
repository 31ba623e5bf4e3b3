/** Calls over brokers, every worker and every caller in a separate process. */
import assert from "node:assert/strict"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Broker } from "../../test/support/brokers.ts"
import { AskedChild } from "./asked-child.ts"
import type { BusQuestion } from "./bus-child.ts"
import type { BusName } from "./contenders/bus.ts"
import { spreadOf } from "./measure.ts"
import type { Spread, Workload } from "./measure.ts"

const CHILD = fileURLToPath(import.meta.resolve("./bus-child.ts"))

export const REQUEST = "nc.request"
export const GRANTED = "operations over NATS, granted"
const TCP = "raw TCP, a write for each message"

/** The rows, by contender. */
export const NAMES: Readonly<Record<BusName, string>> = {
  request: REQUEST,
  table: "publish with a table of requests",
  granted: GRANTED,
  idempotent: "operations over NATS, idempotent",
  moleculer: "Moleculer over NATS",
  "redis-granted": "operations over Redis, granted",
  "redis-idempotent": "operations over Redis, idempotent",
  "redis-moleculer": "Moleculer over Redis",
  tcp: TCP,
  "ws-hand": "WebSocket by hand",
  "ws-batched": "WebSocket by hand, batched",
  ws: "operations over WebSocket",
  "nats-hand": "NATS by hand",
  "nats-batched": "NATS by hand, batched",
  "redis-hand": "Redis by hand",
  "redis-batched": "Redis by hand, batched",
}

/** The brokers of the contenders. */
export interface Brokers {
  readonly nats: Broker
  readonly redis: Broker
}

/** A connected worker and caller. */
export interface BusPair {
  readonly name: string
  /** The broker between them, if there is one. */
  readonly broker: Broker | undefined
  readonly worker: AskedChild<BusQuestion>
  readonly caller: AskedChild<BusQuestion>
  end(): void
}

/** Starts both ends of a contender, and checks that they work. */
export async function startPair(name: BusName, brokers: Partial<Brokers>): Promise<BusPair> {
  const broker = brokerOf(name, brokers)
  const worker = new AskedChild<BusQuestion>(CHILD, "worker", name, broker?.url ?? "")
  const address = await worker.listen<string>()
  const caller = new AskedChild<BusQuestion>(CHILD, "caller", name, address)
  const pair: BusPair = {
    name: NAMES[name],
    broker,
    worker,
    caller,
    end() {
      caller.end()
      worker.end()
    },
  }
  assert.equal(await caller.listen(), address, name)
  assert.equal(await caller.ask("verify"), "verified", name)
  return pair
}

/** Calls with a fixed number in flight; the CPU time is that of both ends and the broker. */
export function callsOf(pair: BusPair, lanes: number): Workload {
  const { name, caller } = pair
  const run = async (count: number): Promise<void> => {
    assert.equal(await caller.ask({ kind: "calls", count, lanes }), count, name)
  }
  return { name, cpu: () => cpuOf(pair), run }
}

/** The median time of a call, one after the other. */
export interface Latency {
  readonly name: string
  readonly against: string
  /** Relative to the one that it is compared with, in the same round. */
  readonly ratio: Spread
  readonly microseconds: number
}

/** Compares the times of single calls: each pair in every round, the order rotated. */
export async function measureLatencies(
  pairs: readonly { readonly pair: BusPair; readonly against: BusName }[],
  { rounds, count }: { readonly rounds: number; readonly count: number },
): Promise<Latency[]> {
  const times = new Map(pairs.map(({ pair }) => [pair.name, [] as number[]]))
  for (let round = 0; round < rounds; round++) {
    for (let step = 0; step < pairs.length; step++) {
      const { pair } = pairs[(round + step) % pairs.length] as (typeof pairs)[number]
      const time = await pair.caller.ask<number>({ kind: "latency", count })
      times.get(pair.name)?.push(time)
    }
  }
  return pairs.map(({ pair: { name }, against }) => {
    const own = times.get(name) ?? []
    const floor = times.get(NAMES[against]) ?? []
    const ratio = spreadOf(own.map((time, round) => time / (floor[round] ?? Number.NaN)))
    return { name, against: NAMES[against], ratio, microseconds: spreadOf(own).median }
  })
}

function brokerOf(name: BusName, { nats, redis }: Partial<Brokers>): Broker | undefined {
  if (name.startsWith("redis")) return redis
  return /^(tcp|ws)/.test(name) ? undefined : nats
}

async function cpuOf({ caller, worker, broker }: BusPair): Promise<number> {
  const ends = (await caller.ask<number>("cpu")) + (await worker.ask<number>("cpu"))
  return broker === undefined ? ends : ends + cpuOfProcess(broker.pid)
}

/** CPU nanoseconds of a process of another program: of all its threads, as Linux counts them; elsewhere 0. */
function cpuOfProcess(pid: number): number {
  const folder = `/proc/${pid}/task`
  if (!existsSync(folder)) return 0
  let nanoseconds = 0
  for (const thread of readdirSync(folder)) {
    const [spent] = readFileSync(`${folder}/${thread}/schedstat`, "utf8").split(" ")
    nanoseconds += Number(spent)
  }
  return nanoseconds
}
