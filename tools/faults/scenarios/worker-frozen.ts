import { setTimeout as sleep } from "node:timers/promises"
import type { Child } from "../children.ts"
import type { LabCaller } from "../caller.ts"
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

/** Short runs use shorter timeouts. */
function hurry(lab: Lab): void {
  if (lab.size !== "short") return
  lab.guard = { pingMs: 200, goneMs: 600, silentMs: 1500, suspectMs: 600 }
}

/** A frozen worker loses its calls, and starts none of them when it continues. */
export const workerFrozen: Scenario = {
  id: "F5",
  title: "worker frozen for 8 s",
  async run(lab) {
    hurry(lab)
    const { caller, workers } = await setUp(lab)
    const victim = victimOf(lab, workers)
    const loading = caller.rate(loadOf(lab))
    await sleep(lab.pick(1000, 1000, 500))
    await untilBusy(lab, victim)
    const at = Date.now()
    victim.freeze()
    await Promise.all([loading, sleep(lab.pick(8000, 6000, 3000))])
    victim.thaw()
    // It has read what waited for it, once it answers.
    await lab.statsOf(victim)
    await sleep(1000)
    await caller.settled()
    const report = lab.audit()
    const failed = failedCalls(lab)
    checkCodes(lab, report, ["WORKER_LOST"])
    checkFelt(lab, failed)
    lab.check("none begins after it was given up", report.startedLate === 0, report.startedLate)
    if (lab.size !== "short") checkOnlyOn(lab, victim)
    checkFew(lab, failed.length)
    lab.checkTime("they fail within 4 s", 4000, longestFrom(at, failed))
    lab.checkTime("p99 of the others is within 2 s", 2000, report.latency.p99)
  },
}

/**
 * A worker that is frozen for longer than any timeout, while the broker keeps sending to it: callers remember
 * it, and callers that do not know it detect that the queue does not respond.
 */
export const workerFrozenLong: Scenario = {
  id: "F6",
  title: "worker frozen for 60 s",
  async run(lab) {
    const { caller, workers } = await setUp(lab)
    const victim = victimOf(lab, workers)
    const stranger = await loadAround(lab, caller, victim, () => victim.freeze())
    victim.thaw()
    await lab.statsOf(victim)
    await sleep(1000)
    await Promise.all([caller.settled(), stranger.settled()])
    checkSilence(lab)
  },
}

/**
 * A worker whose connection is half open: nothing gets through either way, and neither the worker nor the broker notices.
 * The broker keeps sending to it, even after the worker has reconnected.
 */
export const workerHalfOpen: Scenario = {
  id: "F8",
  title: "worker half open for 60 s",
  async run(lab) {
    await lab.startBroker()
    const proxy = await lab.proxy()
    const [others, [victim]] = await Promise.all([
      lab.workers(lab.pick(2, 2, 1)),
      lab.workers(1, { proxy }) as Promise<[Child]>,
    ])
    const caller = lab.caller()
    await lab.warm(caller, [...others, victim])
    const stranger = await loadAround(lab, caller, victim, () => proxy.abandon())
    await Promise.all([caller.settled(), stranger.settled()])
    checkSilence(lab)
  },
}

/** A handler that blocks its worker for 3 s: other calls are late or lost, and run at most once. */
export const workerBlocked: Scenario = {
  id: "F7",
  title: "worker's loop blocked for 3 s",
  async run(lab) {
    hurry(lab)
    const { caller, workers } = await setUp(lab)
    const loading = caller.rate(loadOf(lab))
    await sleep(500)
    const blocked = await caller.call({ operation: "block", ms: 3000, timeout: 10_000 })
    await loading
    await caller.settled()
    checkCodes(lab, lab.audit(), ["WORKER_LOST"])
    const victim = lab.journal().entries.find(({ call }) => call === blocked.id)?.worker
    const worker = workers.find(({ name }) => name === victim)
    const stalls = worker === undefined ? 0 : (await lab.statsOf(worker)).serving.stalls
    lab.check("the worker counts that it stood still", stalls > 0, stalls)
  },
}

/**
 * Makes calls for a minute, in which a busy worker becomes silent; returns a caller that started after that.
 */
async function loadAround(
  lab: Lab,
  caller: LabCaller,
  victim: Child,
  silence: () => void,
): Promise<LabCaller> {
  const load = { ...loadOf(lab), perSecond: lab.pick(100, 50, 20), seconds: lab.pick(60, 40, 8) }
  const loading = caller.rate(load)
  await sleep(1000)
  await untilBusy(lab, victim)
  silence()
  await sleep(1000)
  const stranger = lab.caller()
  await Promise.all([loading, stranger.rate({ ...load, seconds: load.seconds - 3 })])
  return stranger
}

/** Checks that a silent worker costs at most one call in two hundred, and that nothing starts late. */
function checkSilence(lab: Lab): void {
  const report = lab.audit()
  const failed = failedCalls(lab)
  checkCodes(lab, report, ["WORKER_LOST"])
  lab.check("none begins after it was given up", report.startedLate === 0, report.startedLate)
  const most = Math.ceil(lab.records().calls.length * 0.005)
  if (lab.size !== "short") lab.check(`at most ${most} fail`, failed.length <= most, failed.length)
  lab.checkTime("p99 of the others is within 2 s", 2000, report.latency.p99)
}
