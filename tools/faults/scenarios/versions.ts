import { setTimeout as sleep } from "node:timers/promises"
import type { Scenario } from "../scenario.ts"
import { checkCodes, loadOf } from "./common.ts"

/** A version is replaced under load: each call runs on a worker of the version that it asks for. */
export const twoVersions: Scenario = {
  id: "F58",
  title: "workers of two versions",
  async run(lab) {
    await lab.startBroker()
    const old = await lab.workers(2, { version: "1.0.0" })
    const [caller, importer] = [lab.caller(), lab.caller()]
    await lab.warm(caller, old)
    const load = caller.rate({ ...loadOf(lab), version: "1.0.0" })
    await sleep(500)
    const young = await lab.workers(2, { version: "2.0.0" })
    await importer.rate({ ...loadOf(lab), seconds: lab.pick(4, 2, 1), version: "2.0.0" })
    await Promise.all([load, importer.settled()])
    await caller.settled()
    checkCodes(lab, lab.audit(), [])
    for (const [one, workers] of [
      [caller, old],
      [importer, young],
    ] as const) {
      const names = workers.map(({ name }) => name)
      const wrong = one.records.calls.filter(({ worker }) => !names.includes(worker ?? ""))
      lab.check("all calls run on workers of their version", wrong.length === 0, wrong.length)
    }
  },
}
