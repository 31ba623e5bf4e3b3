import type { Scenario } from "../scenario.ts"
import { checkCodes, loadOf, setUp } from "./common.ts"

/** One worker after the other is stopped and replaced, and no call fails. */
export const rollingRestart: Scenario = {
  id: "F11",
  title: "rolling restart under load",
  async run(lab) {
    const { caller, workers } = await setUp(lab)
    const loading = new AbortController()
    const load = { ...loadOf(lab), seconds: 60, timeout: 20_000 }
    const loaded = caller.rate(load, loading.signal)
    const exits: (number | string | null)[] = []
    for (const worker of workers) {
      worker.kill("SIGTERM")
      const { code, signal } = await worker.exit
      exits.push(signal ?? code)
      await lab.workers(1)
    }
    loading.abort()
    await loaded
    await caller.settled()
    checkCodes(lab, lab.audit(), [])
    lab.check(
      "all end in order",
      exits.every((exit) => exit === 0),
      exits.join(", "),
    )
  },
}

/** A worker that is stopped while it runs 500 calls completes them first. */
export const drainInFlight: Scenario = {
  id: "F12",
  title: "drain with 500 in flight",
  async run(lab) {
    await lab.startBroker()
    const [leaving] = await lab.workers(1)
    const caller = lab.caller()
    if (leaving === undefined) return
    await lab.warm(caller, [leaving])
    const count = lab.pick(500, 200, 50)
    const before = lab.journal().entries.length
    caller.burst(count, { ms: 3000, timeout: 20_000 })
    await lab.until(() => lab.journal().entries.length >= before + count, 10_000)
    const [staying] = await lab.workers(1)
    const at = Date.now()
    leaving.kill("SIGTERM")
    await caller.rate({ perSecond: 50, seconds: 2, ms: 50, timeout: 20_000 })
    const { code, signal } = await leaving.exit
    const took = Date.now() - at
    await caller.settled()
    checkCodes(lab, lab.audit(), [])
    lab.check("it ends in order", code === 0, signal ?? `${code}`)
    lab.checkTime("it ends within its grace and 1 s", 11_000, took)
    const elsewhere = lab.journal().entries.some(({ worker }) => worker === staying?.name)
    lab.check("what comes meanwhile runs elsewhere", elsewhere, String(elsewhere))
  },
}
