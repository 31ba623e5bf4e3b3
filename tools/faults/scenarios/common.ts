import type { Transport } from "../../../src/protocol/transport.ts"
import type { AuditReport } from "../audit.ts"
import type { LabCaller, RateOrder } from "../caller.ts"
import type { Child } from "../children.ts"
import type { Lab } from "../lab.ts"
import type { CallRecord } from "../records.ts"

/** The load of the matrix: 200 calls a second for 6 s, 300 ms of work each, a deadline of 5 s. */
export function loadOf(lab: Lab): RateOrder {
  return {
    operation: "work",
    perSecond: lab.pick(200, 100, 40),
    seconds: lab.pick(6, 5, 3),
    ms: 300,
    // On a busy machine only hanging calls should exceed their timeout.
    timeout: lab.pick(5000, 5000, 20_000),
  }
}

/** The load for calls with more hops: also through a hub, or to an API behind a worker. */
export function modestLoad(lab: Lab): RateOrder {
  return { ...loadOf(lab), perSecond: lab.pick(50, 50, 20) }
}

/** Starts a broker, two or three workers, and a caller that has discovered all of them. */
export async function setUp(
  lab: Lab,
  count = lab.pick(3, 3, 2),
): Promise<{ readonly caller: LabCaller; readonly workers: readonly Child[] }> {
  await lab.startBroker()
  const workers = await lab.workers(count)
  const caller = lab.caller()
  await lab.warm(caller, workers)
  return { caller, workers }
}

/** Each of these workers answers calls. */
export async function checkServing(
  lab: Lab,
  caller: LabCaller<Transport>,
  workers: readonly Child[],
): Promise<void> {
  const missing = await lab.warm(caller, workers)
  lab.check("all workers serve", missing.length === 0, `not ${missing.join(" ")}`)
}

/** Picks a worker by the seed. */
export function victimOf(lab: Lab, workers: readonly Child[]): Child {
  const victim = workers[Math.floor(lab.random() * workers.length)]
  if (victim === undefined) throw new Error("There is no worker to choose.")
  return victim
}

/** Waits until a worker has just started a call, so that a fault of the worker affects one. */
export async function untilBusy(lab: Lab, worker: Child): Promise<void> {
  await lab.until(() => {
    const recent = Date.now() - 100
    return lab
      .journal()
      .entries.some(
        ({ what, at, worker: by }) => what === "start" && by === worker.name && at > recent,
      )
  }, 5000)
}

/** Checks that the fault affected a call; otherwise the scenario proves nothing. */
export function checkFelt(lab: Lab, calls: readonly CallRecord[]): void {
  lab.checkBusy("the fault was felt", calls.length > 0, calls.length)
}

/** Calls that failed. */
export function failedCalls(lab: Lab): readonly CallRecord[] {
  return lab.records().calls.filter(({ error }) => error !== undefined)
}

/** Checks that only these errors occur. */
export function checkCodes(lab: Lab, report: AuditReport, allowed: readonly string[]): void {
  const others = Object.entries(report.codes).filter(([code]) => !allowed.includes(code))
  const wanted = allowed.length === 0 ? "no call fails" : `none but ${allowed.join(", ")}`
  lab.check(
    wanted,
    others.length === 0,
    others.map(([code, n]) => `${n} ${code}`).join(", ") || "0",
  )
}

/** Only calls that ran on this worker, or had run nowhere, may fail. */
export function checkOnlyOn(lab: Lab, worker: Child): void {
  const elsewhere = new Set(
    lab
      .journal()
      .entries.filter((entry) => entry.worker !== worker.name)
      .map(({ call }) => call),
  )
  const hit = failedCalls(lab).filter(({ id }) => elsewhere.has(id))
  lab.check("calls on other workers are untouched", hit.length === 0, `${hit.length} failed`)
}

/** Hardly more calls fail than ran on one of three workers: 30 of 1,200. */
export function checkFew(lab: Lab, failed: number): void {
  const { perSecond, ms = 0 } = loadOf(lab)
  const most = ((perSecond * ms) / 1000 / 3) * 1.5
  lab.checkBusy(`at most ${most} fail`, failed <= most, failed)
}

/** The longest time from an event to the failure of a call; later calls count from when they were made. */
export function longestFrom(
  at: number,
  calls: readonly Pick<CallRecord, "sentAt" | "settledAt">[],
): number {
  return Math.max(0, ...calls.map(({ sentAt, settledAt = at }) => settledAt - Math.max(at, sentAt)))
}

/**
 * Checks that reconnects are spread over time: no tenth of a second has most of them. Returns the milliseconds
 * from the first to the last.
 */
export function checkSpread(lab: Lab, times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other)
  const spread = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0)
  const crowd = Math.max(
    0,
    ...sorted.map((from) => sorted.filter((at) => at >= from && at < from + 100).length),
  )
  lab.facts["reconnects"] = `${sorted.length} in ${spread} ms, at most ${crowd} in 100 ms`
  lab.checkBusy(
    "no tenth of a second has most of the reconnects",
    crowd * 2 <= sorted.length,
    `${crowd} of ${sorted.length}`,
  )
  return spread
}
