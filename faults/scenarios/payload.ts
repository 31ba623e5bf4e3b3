import type { Scenario } from "../scenario.ts"
import type { ToldCall } from "../told.ts"
import { checkCodes, loadOf, setUp } from "./common.ts"

const TOO_MUCH = 2_000_000

/** What does not fit is refused in words, and nothing else suffers from it. */
export const payload: Scenario = {
  id: "F24",
  title: "2 MB request, 2 MB result",
  async run(lab) {
    const { caller } = await setUp(lab)
    const loading = caller.rate({ ...loadOf(lab), seconds: 2 })
    const data = "x".repeat(TOO_MUCH)
    const timeout = 20_000
    const [request, result, plain] = await Promise.all([
      caller.call({ ms: 0, data, timeout }),
      caller.call({ ms: 0, bytes: TOO_MUCH, timeout }),
      caller.call({ ms: 0, data: "x".repeat(200_000), bytes: 200_000, timeout }),
    ])
    await loading
    await caller.settled()
    const others = lab.told().calls.filter((call) => call !== request && call !== result)
    const failed = others.filter(({ error }) => error !== undefined)
    checkCodes(lab, lab.audit(), ["PAYLOAD_TOO_LARGE"])
    lab.check("other calls succeed", failed.length === 0, failed.length)
    lab.check("what fits succeeds", plain.error === undefined, plain.error?.code ?? "ok")
    lab.check("the request is refused", isTooLarge(request, false), toldOf(request))
    lab.check("the result is refused", isTooLarge(result, true), toldOf(result))
    for (const call of [request, result]) {
      lab.checkTime("within 100 ms", 100, (call.settledAt ?? Date.now()) - call.sentAt)
    }
  },
}

function isTooLarge({ error }: ToldCall, mayHaveExecuted: boolean): boolean {
  return (
    error?.code === "PAYLOAD_TOO_LARGE" &&
    error.mayHaveExecuted === mayHaveExecuted &&
    error.retryable === false &&
    /\d/.test(error.message)
  )
}

function toldOf({ error }: ToldCall): string {
  return error === undefined ? "ok" : `${error.code}: ${error.message}`
}
