/** A long stream of 8 KiB items, and the memory of caller, worker and broker. */
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import type { Weight } from "./asked-child.ts"
import { startPair } from "./bus.ts"
import type { Brokers } from "./bus.ts"
import type { BusName } from "./contenders/bus.ts"

/** The maximum growth of each in bytes, after the first tenth of the stream. */
export interface BusStream {
  readonly name: string
  readonly items: number
  readonly perSecond: number
  /** Heap and buffers, after a collection. */
  readonly caller: number
  readonly worker: number
  /** Resident memory. */
  readonly broker: number
}

const PARTS = 10

/** Reads a stream in ten parts and measures the memory of all processes between them. */
export async function measureBusStream(
  name: BusName,
  brokers: Brokers,
  items: number,
): Promise<BusStream> {
  const { pid } = name.startsWith("redis") ? brokers.redis : brokers.nats
  const pair = await startPair(name, brokers)
  try {
    assert.equal(await pair.caller.ask({ kind: "open", count: items }), 0)
    const weights: { caller: number; worker: number; broker: number }[] = []
    let milliseconds = 0
    for (let part = 0; part < PARTS; part++) {
      const start = performance.now()
      const count = items / PARTS
      assert.equal(await pair.caller.ask({ kind: "read", items: count }), count, pair.name)
      milliseconds += performance.now() - start
      weights.push({
        caller: (await pair.caller.ask<Weight>("weigh")).heap,
        worker: (await pair.worker.ask<Weight>("weigh")).heap,
        broker: residentOf(pid),
      })
    }
    const grown = (who: "caller" | "worker" | "broker"): number => {
      const [first = Number.NaN, ...rest] = weights.map((weight) => weight[who])
      return Math.max(0, ...rest.map((weight) => weight - first))
    }
    return {
      name: pair.name.replace(", granted", ""),
      items,
      perSecond: (items / milliseconds) * 1000,
      caller: grown("caller"),
      worker: grown("worker"),
      broker: grown("broker"),
    }
  } finally {
    pair.end()
  }
}

/** The memory of a process of another program. */
function residentOf(pid: number): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) * 1024
}
