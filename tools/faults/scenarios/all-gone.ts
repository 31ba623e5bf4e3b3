import { setTimeout as sleep } from "node:timers/promises"
import type { Scenario } from "../scenario.ts"
import type { CallRecord } from "../records.ts"
import { checkCodes, failedCalls, loadOf, longestFrom, setUp } from "./common.ts"

/** All workers are gone: calls fail quickly, and a new worker is found immediately. */
export const allGone: Scenario = {
  id: "F9",
  title: "all workers gone, one comes back",
  async run(lab) {
    const { caller, workers } = await setUp(lab)
    const loading = caller.rate({ ...loadOf(lab), seconds: 2 })
    await sleep(1000)
    const at = Date.now()
    for (const worker of workers) worker.kill("SIGKILL")
    await Promise.all(workers.map(({ exit }) => exit))
    const gone = Date.now()
    await loading
    await caller.settled()
    const failed = failedCalls(lab)
    const withCode = (code: string): CallRecord[] =>
      failed.filter(({ error }) => error?.code === code)
    checkCodes(lab, lab.audit(), ["WORKER_LOST", "UNAVAILABLE"])
    lab.check(
      "what ran is lost",
      withCode("WORKER_LOST").length > 0,
      withCode("WORKER_LOST").length,
    )
    lab.checkTime("what ran is lost within 3 s", 3000, longestFrom(at, withCode("WORKER_LOST")))
    const refused = withCode("UNAVAILABLE").filter(({ sentAt }) => sentAt > gone)
    lab.check("what comes then is UNAVAILABLE", refused.length > 0, refused.length)
    lab.checkTime("UNAVAILABLE comes within 500 ms", 500, longestFrom(gone, refused))

    const [back] = await lab.workers(1)
    const readyAt = Date.now()
    let first: CallRecord | undefined
    while (first === undefined && Date.now() < readyAt + 10_000) {
      const record = await caller.call({ ms: 1, timeout: 5000 })
      if (record.error === undefined) first = record
    }
    lab.check(`${back?.name} is found when it is back`, first !== undefined, first?.worker ?? "no")
    lab.checkTime("within 1 s", 1000, (first?.settledAt ?? Date.now()) - readyAt)
  },
}
