import { tookOf } from "../audit.ts"
import type { Lab } from "../lab.ts"
import type { Scenario } from "../scenario.ts"
import type { CallRecord } from "../records.ts"
import { checkCodes, loadOf, setUp } from "./common.ts"

const TOO_MUCH = 2_000_000
const FITS = 200_000

/** Messages that are too large are rejected with a clear error, and have no other effect. */
export const payload: Scenario = {
  id: "F24",
  title: "2 MB request, 2 MB result",
  async run(lab) {
    const { caller } = await setUp(lab)
    const loading = caller.rate({ ...loadOf(lab), seconds: 2 })
    const order = { ms: 0, timeout: 20_000 }
    const requests: CallRecord[] = []
    const results: CallRecord[] = []
    for (let at = 0; at < 3; at++) {
      requests.push(await caller.call({ ...order, data: "x".repeat(TOO_MUCH) }))
      results.push(await caller.call({ ...order, bytes: TOO_MUCH }))
    }
    const plain = await caller.call({ ...order, data: "x".repeat(FITS), bytes: FITS })
    await loading
    await caller.settled()
    const large = new Set([...requests, ...results])
    const hit = lab.records().calls.filter((call) => !large.has(call) && call.error !== undefined)
    checkCodes(lab, lab.audit(), ["PAYLOAD_TOO_LARGE"])
    lab.check("other calls succeed", hit.length === 0, hit.length)
    lab.check("what fits succeeds", plain.error === undefined, outcomeOf(plain))
    checkRefused(lab, "request", requests, false)
    checkRefused(lab, "result", results, true)
  },
}

/**
 * Checks that all are rejected with a helpful error. The fastest shows how long it takes on an idle machine.
 */
function checkRefused(
  lab: Lab,
  what: string,
  calls: readonly CallRecord[],
  mayHaveExecuted: boolean,
): void {
  const others = calls.filter((call) => !isTooLarge(call, mayHaveExecuted))
  lab.check(`the ${what} is refused`, others.length === 0, others.map(outcomeOf).join(" / "))
  lab.checkTime(`the ${what} is refused in 100 ms`, 100, Math.min(...calls.map(tookOf)))
}

function isTooLarge({ error }: CallRecord, mayHaveExecuted: boolean): boolean {
  return (
    error?.code === "PAYLOAD_TOO_LARGE" &&
    error.mayHaveExecuted === mayHaveExecuted &&
    error.retryable === false &&
    /\d/.test(error.message)
  )
}

function outcomeOf({ error }: CallRecord): string {
  return error === undefined ? "ok" : `${error.code}: ${error.message}`
}
