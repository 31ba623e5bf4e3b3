import { setTimeout as sleep } from "node:timers/promises"
import type { CallerGroup, Lab } from "../lab.ts"
import type { Scenario } from "../scenario.ts"
import { checkCodes, failedCalls, longestFrom, setUp } from "./common.ts"
import { megabytes, watchMemory } from "./memory.ts"

const ITEM = 8 * 1024
const MAX_GROWTH = 32e6

/** A worker with streams, and a consumer in a separate process. */
interface StreamLab {
  readonly group: CallerGroup
  /** Checks from now on that no process uses more memory than before. */
  readonly watch: () => () => void
}

/**
 * Starts them, and first transfers as much data as the scenario will.
 *
 * The maximum memory during that is what such work needs; anything above it is kept data.
 */
async function setUpStream(lab: Lab): Promise<StreamLab> {
  await lab.startBroker()
  const [worker] = await lab.workers(1)
  const group = await lab.callers()
  if (worker === undefined) throw new Error("There is no worker.")
  const sources = [
    ["consumer", () => group.child.memory()],
    ["worker", () => worker.memory()],
    ["broker", () => lab.brokerMemory()],
  ] as const
  const warming = watchMemory(sources)
  const count = lab.pick(20_000, 10_000, 300)
  await group.run({ type: "stream", order: { count, bytes: ITEM } }, 60_000)
  const slowly = { count: count / 4, bytes: ITEM, perItem: 1 }
  await group.run({ type: "stream", order: slowly }, 60_000)
  const before = warming.end()
  return {
    group,
    watch: () => {
      const watching = watchMemory(sources)
      return () => {
        for (const [name, most] of Object.entries(watching.end())) {
          const growth = Math.max(0, most - (before[name] ?? 0))
          const saw = megabytes(growth)
          lab.facts[name] = `+${saw}`
          lab.checkBusy(`the ${name} grows by 32 MB at most`, growth <= MAX_GROWTH, saw)
        }
      }
    },
  }
}

/** A consumer that is slower than the source: the source waits. */
export const slowConsumer: Scenario = {
  id: "F32",
  title: "slow consumer, 20,000 items",
  async run(lab) {
    const { group, watch } = await setUpStream(lab)
    const end = watch()
    const order = { count: lab.pick(20_000, 4000, 400), bytes: ITEM, perItem: 1 }
    await group.run({ type: "stream", order }, 120_000)
    end()
    await group.finish()
    checkCodes(lab, lab.audit(), [])
  },
}

/** A frozen consumer: it continues where it stopped. */
export const frozenConsumer: Scenario = {
  id: "F33",
  title: "consumer frozen for 15 s, 60,000 items",
  async run(lab) {
    const { group, watch } = await setUpStream(lab)
    const end = watch()
    const order = { count: lab.pick(60_000, 10_000, 2000), bytes: ITEM }
    const running = group.run({ type: "stream", order }, 120_000)
    await sleep(lab.pick(1000, 300, 50))
    group.child.freeze()
    await sleep(lab.pick(15_000, 5000, 2000))
    group.child.thaw()
    await running
    end()
    await group.finish()
    const report = lab.audit()
    checkCodes(lab, report, ["SLOW_CONSUMER"])
    lab.facts["ended"] = report.failed === 0 ? "all items" : "SLOW_CONSUMER"
  },
}

/** Leaving a stream ends it at its source. */
export const earlyLeave: Scenario = {
  id: "F34",
  title: "consumer leaves after 3 items",
  async run(lab) {
    const { caller, workers } = await setUp(lab, 1)
    const order = { count: 1_000_000, bytes: 100, every: 1, leaveAfter: 3 }
    for (let at = 0; at < lab.pick(50, 20, 5); at++) await caller.stream(order)
    const [worker] = workers
    if (worker === undefined) return
    const isIdle = async (): Promise<boolean> => (await lab.statsOf(worker)).serving.running === 0
    lab.check("the worker has nothing left", await lab.until(isIdle, 5000), "")
    const { entries } = lab.journal()
    const ends = lab.records().streams.map(({ id, settledAt = 0 }) => {
      const end = entries.find(({ call, what }) => call === id && what === "aborted")
      return end === undefined ? Number.POSITIVE_INFINITY : end.at - settledAt
    })
    const missing = ends.filter((took) => took === Number.POSITIVE_INFINITY).length
    lab.check("every source was ended", missing === 0, `${missing} were not`)
    const took = Math.max(0, ...ends.filter(Number.isFinite))
    lab.checkTime("within 100 ms", 100, took)
  },
}

/** A worker dies during a stream: the consumer gets the items so far, then an error. */
export const killedMidStream: Scenario = {
  id: "F36",
  title: "worker killed mid-stream",
  async run(lab) {
    const { caller, workers } = await setUp(lab, 1)
    const running = Array.from({ length: lab.pick(20, 10, 3) }, () =>
      caller.stream({ count: 1_000_000, bytes: 200, every: 5 }),
    )
    await lab.until(() => lab.records().streams.every(({ received }) => received > 10), 10_000)
    const at = Date.now()
    for (const worker of workers) worker.kill("SIGKILL")
    await Promise.race([Promise.all(running), sleep(30_000)])
    const { streams } = lab.records()
    checkCodes(lab, lab.audit(), ["WORKER_LOST"])
    const without = streams.filter(({ error }) => error?.code !== "WORKER_LOST").length
    lab.check("each ends with WORKER_LOST", without === 0, `${without} did not`)
    lab.check(
      "what came before was kept",
      streams.every(({ received }) => received > 10),
      "",
    )
    lab.checkTime("within 3 s", 3000, longestFrom(at, streams))
  },
}

/** A consumer that does not read does not slow down the others. */
export const oneFrozenOfMany: Scenario = {
  id: "F38",
  title: "100 streams, one takes nothing",
  async run(lab) {
    const { caller } = await setUp(lab)
    const others = lab.pick(99, 49, 9)
    const order = { count: lab.pick(1000, 400, 300), bytes: 1024 }
    const all = async (): Promise<number> => {
      const began = performance.now()
      await Promise.all(Array.from({ length: others }, () => caller.stream(order)))
      return performance.now() - began
    }
    await all()
    const alone = await all()
    const frozen = caller.stream({ ...order, pause: { after: 1, ms: Math.max(2000, alone * 3) } })
    const beside = await all()
    const record = await frozen
    checkCodes(lab, lab.audit(), [])
    lab.check("the one that waited gets the rest", record.isComplete === true, record.received)
    lab.facts["others"] = `${Math.round(alone)} ms alone, ${Math.round(beside)} ms beside it`
    lab.checkTime("the others take half as long again at most", alone * 1.5, beside)
  },
}

/** Many streams, long calls and short calls at once: all of them succeed, and hardly anything is sent twice. */
export const manyStreams: Scenario = {
  id: "F39",
  title: "100 streams, long calls and a load",
  async run(lab) {
    const { caller, workers } = await setUp(lab, 3)
    const long = lab.pick(20, 20, 4)
    caller.burst(long, { ms: lab.pick(10_000, 5000, 500), timeout: 60_000 })
    const order = { count: lab.pick(600, 600, 300), bytes: 1024 }
    const streams = Array.from({ length: lab.pick(100, 100, 30) }, () => caller.stream(order))
    const beside = lab.caller()
    const seconds = lab.pick(10, 5, 1)
    await beside.rate({ perSecond: 20, seconds, ms: 5, timeout: 20_000 })
    await Promise.all([...streams, caller.settled(), beside.settled()])
    checkCodes(lab, lab.audit(), [])
    const all = lab.records().streams
    const whole = all.filter(({ isComplete }) => isComplete === true).length
    lab.check("every stream is complete", whole === all.length, `${whole} of ${all.length}`)
    lab.check("no call fails beside them", failedCalls(lab).length === 0, failedCalls(lab).length)
    const serving = await Promise.all(workers.map((worker) => lab.statsOf(worker)))
    const resent = serving.reduce((sum, stats) => sum + stats.serving.resent, 0)
    const delivered = all.reduce((sum, { received }) => sum + received, 0)
    const lost = caller.transport.stats().calling.workersLost
    lab.facts["resent"] = `${resent} for ${delivered} items`
    lab.check("one item in a hundred is resent at most", resent * 100 <= delivered, resent)
    lab.check("no worker counts as lost", lost === 0, lost)
  },
}
