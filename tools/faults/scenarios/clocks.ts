import { setTimeout as sleep } from "node:timers/promises"
import { now } from "../now.ts"
import type { Scenario } from "../scenario.ts"
import { checkCodes, loadOf, setUp } from "./common.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Workers whose clocks are wrong: deadlines are sent as remaining time, so that it has no effect. */
export const wrongClocks: Scenario = {
  id: "F43",
  title: "workers' clocks wrong by an hour",
  async run(lab) {
    await lab.startBroker()
    const started = await Promise.all([-HOUR, 0, HOUR].map((skew) => lab.workers(1, { skew })))
    const workers = started.flat()
    const caller = lab.caller()
    await lab.warm(caller, workers)
    await caller.rate({ ...loadOf(lab), seconds: lab.pick(3, 2, 1) })
    const [short] = await Promise.all([
      caller.call({ ms: 10_000, timeout: 1000 }),
      caller.stream({ count: 500, bytes: 100 }),
    ])
    await caller.settled()
    checkCodes(lab, lab.audit(), ["TIMEOUT"])
    const failed = lab.records().calls.filter((call) => call !== short && call.error !== undefined)
    lab.check("only the call that must fail fails", failed.length === 0, failed.length)
    lab.check("that one does", short.error?.code === "TIMEOUT", short.error?.code ?? "ok")
    const seen = new Set(lab.records().calls.map(({ worker }) => worker))
    lab.check(
      "all workers serve",
      workers.every(({ name }) => seen.has(name)),
      [...seen].join(" "),
    )
  },
}

/** The dates of callers and workers change while calls are open: no call ends early or late, or hangs. */
export const dateSteps: Scenario = {
  id: "F44",
  title: "dates set back and forward mid-call",
  async run(lab) {
    const { caller, workers } = await setUp(lab)
    const long = [
      caller.call({ ms: lab.pick(6000, 4000), timeout: 20_000 }),
      caller.stream({ count: 300, bytes: 100, every: 10 }),
    ]
    const short = caller.call({ ms: 60_000, timeout: lab.pick(4000, 3000) })
    const loading = caller.rate(loadOf(lab))
    try {
      for (const by of [-10 * MINUTE, DAY, -DAY, HOUR]) {
        await sleep(lab.pick(1200, 800, 400))
        Date.now = () => now() + by
        for (const worker of workers) await worker.ask({ type: "step", by: -by / 2 }, "stepped")
      }
      await loading
      await Promise.all([...long, short])
      await caller.settled()
    } finally {
      Date.now = now
    }
    const report = lab.audit()
    checkCodes(lab, report, ["TIMEOUT"])
    const failed = lab.records().calls.filter(({ error }) => error !== undefined)
    lab.check("only the call that must fail fails", failed.length === 1, failed.length)
    const { error } = await short
    lab.check("that one does", error?.code === "TIMEOUT", error?.code ?? "ok")
    const { workersLost, stalls } = caller.transport.stats().calling
    lab.check("no worker is reported lost", workersLost === 0, workersLost)
    lab.check("no standstill is reported", lab.size === "short" || stalls === 0, stalls)
    lab.checkTime("calls end at their deadline", 250, report.overdue)
  },
}
