import { JournalWriter } from "../journal.ts"
import { startTruncatingApi } from "../relay.ts"
import type { Scenario } from "../scenario.ts"
import { checkCodes, failedCalls, modestLoad } from "./common.ts"

/** An API that truncates answers: errors say that the call may have run, and no truncated answer is a success. */
export const truncatedAnswers: Scenario = {
  id: "F62",
  title: "API that truncates every second answer",
  async run(lab) {
    await lab.startBroker()
    const api = lab.own(await startTruncatingApi(new JournalWriter(lab.folder, "api")))
    const workers = await lab.workers(2, { api: api.url })
    const caller = lab.caller()
    await lab.warm(caller, workers)
    await caller.rate({ ...modestLoad(lab), operation: "relay" })
    await caller.settled()
    checkCodes(lab, lab.audit(), ["DATA_LOSS"])
    const failed = new Set(failedCalls(lab).map(({ id }) => id))
    lab.check("answers were truncated", api.cut.size > 0, api.cut.size)
    const wrong = [...api.cut].filter((id) => !failed.has(id)).length
    lab.check("no truncated answer is a success", wrong === 0, wrong)
    lab.check("no other fails", failed.size === api.cut.size, failed.size)
    const unreported = failedCalls(lab).filter(
      ({ error }) => error?.mayHaveExecuted !== true,
    ).length
    lab.check("all say that they may have run", unreported === 0, unreported)
  },
}
