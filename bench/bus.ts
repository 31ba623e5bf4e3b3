/** Calls over brokers, every worker and every caller in a process of its own. */
import assert from "node:assert/strict"
import { fileURLToPath } from "node:url"
import type { Broker } from "../test/support/brokers.ts"
import { AskedChild } from "./asked-child.ts"
import type { BusQuestion } from "./bus-child.ts"
import type { BusName } from "./contenders/bus.ts"
import type { Workload } from "./measure.ts"

const CHILD = fileURLToPath(import.meta.resolve("./bus-child.ts"))

export const REQUEST = "nc.request"
const TABLE = "publish with a table of requests"
export const GRANTED = "operations over NATS, granted"
const IDEMPOTENT = "operations over NATS, idempotent"
const MOLECULER = "Moleculer over NATS"
const REDIS_GRANTED = "operations over Redis, granted"
const REDIS_MOLECULER = "Moleculer over Redis"

const NAMES: Readonly<Record<BusName, string>> = {
  request: REQUEST,
  table: TABLE,
  granted: GRANTED,
  idempotent: IDEMPOTENT,
  moleculer: MOLECULER,
  "redis-granted": REDIS_GRANTED,
  "redis-moleculer": REDIS_MOLECULER,
}

/** The brokers that contenders meet on. */
export interface Brokers {
  readonly nats: Broker
  readonly redis: Broker
}

/** A worker and a caller that know each other. */
export interface BusPair {
  readonly name: string
  readonly worker: AskedChild<BusQuestion>
  readonly caller: AskedChild<BusQuestion>
  end(): void
}

/** Starts both ends of a contender, and sees that they do the work. */
export async function startPair(name: BusName, brokers: Brokers): Promise<BusPair> {
  const { url } = name.startsWith("redis") ? brokers.redis : brokers.nats
  const worker = new AskedChild<BusQuestion>(CHILD, "worker", name, url)
  assert.equal(await worker.listen(), "ready", name)
  const caller = new AskedChild<BusQuestion>(CHILD, "caller", name, url)
  const pair: BusPair = {
    name: NAMES[name],
    worker,
    caller,
    end() {
      caller.end()
      worker.end()
    },
  }
  assert.equal(await caller.listen(), "ready", name)
  assert.equal(await caller.ask("verify"), "verified", name)
  return pair
}

/** Calls with so many at work at any moment; CPU time is that of both ends. */
export function callsOf({ name, worker, caller }: BusPair, lanes: number): Workload {
  const cpu = async (): Promise<number> =>
    (await caller.ask<number>("cpu")) + (await worker.ask<number>("cpu"))
  const run = async (count: number): Promise<void> => {
    assert.equal(await caller.ask({ kind: "calls", count, lanes }), count, name)
  }
  return { name, cpu, run }
}
