import type { Scenario } from "../scenario.ts"
import { checkCodes, loadOf } from "./common.ts"

const HOUR = 3_600_000

/** Workers whose clocks are wrong: deadlines are told in time that is left, so that nobody notices. */
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
    const failed = lab.told().calls.filter((call) => call !== short && call.error !== undefined)
    lab.check("no call fails but the one that has to", failed.length === 0, failed.length)
    lab.check("that one does", short.error?.code === "TIMEOUT", short.error?.code ?? "ok")
    const seen = new Set(lab.told().calls.map(({ worker }) => worker))
    lab.check(
      "all workers serve",
      workers.every(({ name }) => seen.has(name)),
      [...seen].join(" "),
    )
  },
}
