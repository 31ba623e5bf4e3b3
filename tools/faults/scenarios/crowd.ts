import { setTimeout as sleep } from "node:timers/promises"
import { tookOf } from "../audit.ts"
import type { JournalEntry } from "../journal.ts"
import type { Scenario } from "../scenario.ts"
import { checkCodes, checkSpread } from "./common.ts"
import { megabytes, watchMemory } from "./memory.ts"

/** Ten thousand concurrent calls: all succeed, and few are repeated. */
export const manyInFlight: Scenario = {
  id: "F27",
  title: "10,000 calls in flight",
  async run(lab) {
    await lab.startBroker()
    await lab.workers(3)
    const group = await lab.callers()
    // Its program is loaded and warm, so that later memory growth is caused by calls.
    await group.run({ type: "burst", count: 100, order: { ms: 1, timeout: 30_000 } }, 40_000)
    const memory = watchMemory([["caller", () => group.child.memory()]])
    const count = lab.pick(10_000, 3000, 500)
    const order = { ms: 1000, timeout: 30_000 }
    await group.run({ type: "burst", count, order }, 60_000)
    const { caller = 0 } = memory.end()
    const { stats } = await group.finish()
    const report = lab.audit()
    checkCodes(lab, report, [])
    const repeats = stats[0]?.repeats ?? 0
    lab.check("at most a tenth is repeated", repeats <= report.calls / 10, repeats)
    lab.checkBusy("the caller stays below 200 MB", caller < 200e6, megabytes(caller))
    lab.facts["repeats"] = repeats
    lab.facts["caller"] = megabytes(caller)
  },
}

const CAPACITY = 10

/** More calls than capacity: rejected calls get a clear error, and all workers stay busy. */
export const overload: Scenario = {
  id: "F29",
  title: "1,000 calls for 30 places",
  async run(lab) {
    await lab.startBroker()
    const workers = await lab.workers(3, { limits: { maxInFlight: CAPACITY, maxQueued: 20 } })
    const caller = lab.caller()
    await lab.warm(caller, workers)
    await sleep(200)
    const before = Date.now()
    caller.burst(lab.pick(1000, 1000, 300), { ms: 200, timeout: 20_000 })
    await caller.settled()
    const refused = lab.records().calls.filter(({ error }) => error !== undefined)
    const soon = refused.every(({ error }) => (error?.retryAfterMs ?? 0) > 0)
    checkCodes(lab, lab.audit(), ["OVERLOADED"])
    lab.check("some are refused", refused.length > 0, refused.length)
    lab.check("errors say when to retry", soon, refused[0]?.error?.message ?? "")
    const entries = lab.journal().entries.filter(({ at }) => at >= before)
    const loads = workers.map(({ name }) => occupation(entries, name))
    const most = Math.max(...loads.map((load) => load.most))
    lab.check("no worker runs more than it has places for", most <= CAPACITY, most)
    const least = Math.min(...loads.map((load) => load.full))
    lab.checkBusy("all are busy nine tenths of the time", least >= 0.9, least.toFixed(2))
    lab.facts["refused within"] = `${Math.max(0, ...refused.map(tookOf))} ms`
  },
}

/** An operation that fills all workers: calls of another operation still succeed. */
export const hotOperation: Scenario = {
  id: "F57",
  title: "one operation fills all workers",
  async run(lab) {
    await lab.startBroker()
    const workers = await lab.workers(3, { limits: { maxInFlight: CAPACITY, maxQueued: 20 } })
    const hot = lab.caller()
    await lab.warm(hot, workers)
    const seconds = lab.pick(10, 5, 2)
    const flood = hot.rate({ perSecond: 600, seconds, ms: 500, timeout: 20_000 })
    await sleep(500)
    const other = lab.caller()
    await other.rate({ operation: "read", perSecond: 50, seconds: seconds - 1, ms: 5 })
    await Promise.all([flood, other.settled()])
    await hot.settled()
    checkCodes(lab, lab.audit(), ["OVERLOADED"])
    const { calls } = other.records
    const ok = calls.filter(({ error }) => error === undefined).length
    const share = ok / calls.length
    lab.check("99 % of the other operation's calls succeed", share >= 0.99, share.toFixed(3))
  },
}

/** The most that a worker ran at once, and the part of the time in which all its places were taken. */
export function occupation(
  entries: readonly JournalEntry[],
  worker: string,
): { readonly most: number; readonly full: number } {
  const own = entries.filter((entry) => entry.worker === worker)
  const starts = own.filter(({ what }) => what === "start")
  const [first, last] = [starts[0]?.at ?? 0, starts.at(-1)?.at ?? 0]
  let [running, most, full, at] = [0, 0, 0, first]
  for (const entry of own) {
    if (running >= CAPACITY && entry.at <= last) full += entry.at - at
    at = entry.at
    running += entry.what === "start" ? 1 : -1
    most = Math.max(most, running)
  }
  return { most, full: last > first ? full / (last - first) : 0 }
}

/**
 * Many callers lose the broker at the same time: they reconnect at different times, and none of their calls
 * fails.
 */
export const herd: Scenario = {
  id: "F30",
  title: "50 callers lose the broker together",
  async run(lab) {
    await lab.startBroker()
    await lab.workers(3)
    const groups = await Promise.all(
      Array.from({ length: lab.pick(5, 3, 2) }, () => lab.callers(10)),
    )
    const order = { operation: "read", perSecond: 4, seconds: 6, ms: 50, timeout: 20_000 } as const
    const loads = groups.map((group) => group.run({ type: "rate", order }, 60_000))
    await sleep(1500)
    await lab.broker.kill()
    await sleep(2000)
    const back = Date.now()
    await lab.broker.restart()
    await Promise.all(loads)
    const reports = await Promise.all(groups.map((group) => group.finish()))
    checkCodes(lab, lab.audit(), [])
    checkSpread(
      lab,
      reports.flatMap(({ connections }) => connections.filter((at) => at >= back)),
    )
  },
}
