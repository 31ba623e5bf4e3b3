import { setTimeout as sleep } from "node:timers/promises"
import type { Lab } from "../lab.ts"
import type { Scenario } from "../scenario.ts"
import {
  checkCodes,
  checkFelt,
  checkFew,
  checkOnlyOn,
  failedCalls,
  loadOf,
  longestFrom,
  setUp,
  untilBusy,
  victimOf,
} from "./common.ts"

/** Kills one of three workers under load; returns the time, and who it was. */
async function killOne(lab: Lab, operation: "work" | "read") {
  const { caller, workers } = await setUp(lab)
  const victim = victimOf(lab, workers)
  const loading = caller.rate({ ...loadOf(lab), operation })
  await sleep(lab.pick(2000, 2000, 1000))
  await untilBusy(lab, victim)
  const at = Date.now()
  victim.kill("SIGKILL")
  await loading
  await caller.settled()
  return { caller, victim, at }
}

/** Its calls fail soon, with errors that say that they may have run; other calls are not affected. */
export const workerKilled: Scenario = {
  id: "F1",
  title: "worker killed mid-call",
  async run(lab) {
    const { victim, at } = await killOne(lab, "work")
    const report = lab.audit()
    const failed = failedCalls(lab)
    checkCodes(lab, report, ["WORKER_LOST"])
    checkOnlyOn(lab, victim)
    checkFelt(lab, failed)
    const later = failed.filter(({ sentAt }) => sentAt > at + 1000)
    lab.check("after 1 s all calls succeed", later.length === 0, later.length)
    checkFew(lab, failed.length)
    lab.checkTime("they fail within 3 s", 3000, longestFrom(at, failed))
  },
}

/** Idempotent calls are repeated: callers see only a delay. */
export const workerKilledIdempotent: Scenario = {
  id: "F2",
  title: "worker killed, idempotent calls",
  async run(lab) {
    const { caller } = await killOne(lab, "read")
    const report = lab.audit()
    checkCodes(lab, report, [])
    lab.check("calls were repeated", report.repeated > 0, report.repeated)
    lab.facts["repeats"] = caller.transport.stats().calling.repeats
  },
}
