import { EventEmitter, getEventListeners } from "node:events"
import { readdirSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import * as v8 from "node:v8"
import { childrenOf } from "./hub.ts"

/** What a process holds while nothing is called, by name. */
export type Sample = Readonly<Record<string, number>>

/** One row of the result. */
export interface Growth {
  readonly name: string
  /** Medians of the first, second and last third of the samples. */
  readonly medians: readonly [number, number, number]
  /** How much the last median may exceed the first. */
  readonly allowed: number
  readonly grows: boolean
}

const MB = 1024 * 1024

/** Growth that is allowed: a share of the first median, and so much on top. Everything else must not grow by one. */
const ALLOWED: Readonly<Record<string, { readonly share: number; readonly plus: number }>> = {
  "heap (MB)": { share: 0.02, plus: 0.5 },
  // Signals of timeouts live until their time is over.
  "live EventTargets": { share: 0, plus: 10 },
  // The pool behind `fetch` keeps one for each request there has been at the same time.
  "live EventEmitters": { share: 0, plus: 5 },
  "live functions": { share: 0.01, plus: 0 },
}

/** Collects all garbage, also what is held by finalizers that have yet to run. */
export async function collectGarbage(): Promise<void> {
  const collect = globalThis.gc
  if (collect === undefined) throw new Error("Start it with --expose-gc: npm run soak")
  for (let round = 0; round < 3; round++) {
    collect()
    // Finalizers run in a later turn. Those of `fetch` hold the signal of each request that is over.
    await sleep(50)
  }
  collect()
}

/** Counts what this process holds; collects garbage before. */
export async function takeSample(signal: AbortSignal): Promise<Sample> {
  await collectGarbage()
  const handles = process.getActiveResourcesInfo()
  const count = (type: string): number => handles.filter((one) => one === type).length
  const sockets = count("TCPSocketWrap")
  const timers = count("Timeout")
  return {
    "heap (MB)": heapSize() / MB,
    sockets,
    timers,
    "other handles": handles.length - sockets - timers,
    "file descriptors": readdirSync("/proc/self/fd").length,
    "child processes": childrenOf(process.pid).length,
    "listeners of process": process
      .eventNames()
      .reduce((sum, name) => sum + process.listenerCount(name), 0),
    "listeners of the shared signal": getEventListeners(signal, "abort").length,
    "live EventEmitters": v8.queryObjects(EventEmitter, { format: "count" }),
    "live EventTargets": v8.queryObjects(EventTarget, { format: "count" }),
    "live functions": v8.queryObjects(Function, { format: "count" }),
  }
}

/** Bytes of the heap without compiled code, of which the engine has more or less as it likes. */
function heapSize(): number {
  const spaces = v8
    .getHeapSpaceStatistics()
    .filter(({ space_name: name }) => !name.includes("code"))
  return spaces.reduce((sum, { space_used_size: used }) => sum + used, 0)
}

/** Compares the thirds of the samples of the run. */
export function growthOf(samples: readonly Sample[]): Growth[] {
  const third = samples.length / 3
  return Object.keys(samples[0] ?? {}).map((name) => {
    const values = samples.map((sample) => sample[name] ?? 0)
    const part = (at: number): number =>
      median(values.slice(Math.round(at * third), Math.round((at + 1) * third)))
    const medians = [part(0), part(1), part(2)] as const
    const { share, plus } = ALLOWED[name] ?? { share: 0, plus: 0 }
    const allowed = medians[0] * share + plus
    // What is still warming up grows in the beginning only.
    const grows = medians[2] > medians[1] && medians[2] - medians[0] > allowed
    return { name, medians, allowed, grows }
  })
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
}
