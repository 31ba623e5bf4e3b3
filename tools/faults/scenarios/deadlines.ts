import type { Scenario } from "../scenario.ts"
import { checkCodes, setUp } from "./common.ts"

/** Deadlines that have passed, or are no times at all, as another implementation of the protocol may send them. */
const PASSED = [
  { timeout: 0 },
  { timeout: -1 },
  { timeout: -1e300 },
  { deadline: 0 },
  { deadline: -1e15 },
]
/** Deadlines that are never reached, or beyond what a timer can wait. */
const ENDLESS = [2 ** 31, 1e12, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]

/** Callers with hostile deadlines: what has passed does not run, what never comes does, and others are not affected. */
export const hostileDeadlines: Scenario = {
  id: "F70",
  title: "tiny, huge and negative deadlines",
  async run(lab) {
    const { caller, workers } = await setUp(lab)
    const [hostile, endless] = [lab.caller(), lab.caller()]
    await lab.warm(hostile, workers)
    await lab.warm(endless, workers)
    const seconds = lab.pick(6, 4, 2)
    const order = { perSecond: 20, seconds, ms: 20 }
    const loads = [1, 2, 5, 20].map((timeout) => hostile.rate({ ...order, timeout }))
    const beside = caller.rate({ ...order, perSecond: 50, timeout: 20_000 })
    const long = ENDLESS.flatMap((timeout) =>
      Array.from({ length: 5 }, () => endless.call({ ms: 50, timeout })),
    )
    for (const [at, limits] of PASSED.entries()) {
      const id = `passed-${at}`
      const input = { id, ms: 0 }
      // A run of it is not in any record, which the audit reports.
      hostile.transport.send({
        ...{ type: "call.requested", requestId: id, operationId: "lab.work", input },
        ...limits,
      })
    }
    await Promise.all([...loads, beside, ...long])
    await Promise.all([hostile.settled(), caller.settled()])
    checkCodes(lab, lab.audit(), ["TIMEOUT"])
    for (const [name, { records }] of Object.entries({ others: caller, endless })) {
      const failed = records.calls.filter(({ error }) => error !== undefined).length
      lab.check(`${name}: no call fails`, failed === 0, failed)
    }
    const { overdue } = lab.audit()
    lab.checkTime("errors come within 1 s of the deadline", 1000, overdue)
  },
}
