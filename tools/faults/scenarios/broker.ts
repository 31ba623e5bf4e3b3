import { setTimeout as sleep } from "node:timers/promises"
import { createWebSocketTransport } from "../../../src/websocket.ts"
import type { LabCaller } from "../caller.ts"
import type { Lab } from "../lab.ts"
import type { Scenario } from "../scenario.ts"
import type { CallRecord } from "../records.ts"
import { checkCodes, checkFelt, checkServing, failedCalls, loadOf, setUp } from "./common.ts"

/** A broker that is back before the deadline: callers see only a delay. */
export const brokerRestarted: Scenario = {
  id: "F13",
  title: "broker killed, back after 1 s",
  async run(lab) {
    const { caller } = await setUp(lab)
    const loading = caller.rate(loadOf(lab))
    await sleep(lab.pick(2000, 1500, 1000))
    await lab.broker.kill()
    await sleep(1000)
    await lab.broker.restart()
    await loading
    await caller.settled()
    const report = lab.audit()
    checkCodes(lab, report, [])
    lab.checkTime("p99 is within 2.5 s", 2500, report.latency.p99)
  },
}

/** The same with listeners and loggers that throw: this has no effect. */
export const badListeners: Scenario = {
  id: "F63",
  title: "broker restarted, all listeners throw",
  async run(lab) {
    lab.hasBadListeners = true
    await brokerRestarted.run(lab)
  },
}

/** A server of a cluster is lost, and then another one: the others carry on. */
export const clusterLoss: Scenario = {
  id: "F64",
  title: "servers of a cluster lost",
  async run(lab) {
    const servers = await lab.startCluster()
    const workers = await lab.workers(lab.pick(3, 3, 2))
    const caller = lab.caller()
    await lab.warm(caller, workers)
    const seconds = lab.pick(15, 12, 10)
    const loading = caller.rate({ ...loadOf(lab), seconds, timeout: 20_000 })
    for (const server of servers) {
      await sleep(1500)
      await server.kill()
    }
    await loading
    await caller.settled()
    checkCodes(lab, lab.audit(), [])
    await checkServing(lab, caller, workers)
  },
}

/** A broker that is away for longer than the deadline: calls time out, with correct errors. */
export const brokerGone: Scenario = {
  id: "F14",
  title: "broker gone longer than the deadline",
  async run(lab) {
    const { caller } = await setUp(lab)
    const timeout = lab.pick(5000, 2000, 2000)
    const gone = 2 * timeout
    const loading = caller.rate({ ...loadOf(lab), timeout, seconds: (gone / 1000) * 1.2 })
    await sleep(1000)
    await lab.broker.kill()
    const at = Date.now()
    await sleep(gone / 2)
    lab.check("the caller reports that it is not connected", !caller.transport.isConnected, "")
    await sleep(gone / 2)
    const back = Date.now()
    await lab.broker.restart()
    const { first, took } = await firstAfter(lab, caller)
    await loading
    await caller.settled()
    const report = lab.audit()
    checkCodes(lab, report, ["TIMEOUT"])
    const failed = failedCalls(lab).filter((call) => call.sentAt > at)
    checkFelt(lab, failed)
    const unsent = failed.filter(({ sentAt }) => sentAt + timeout < back)
    const unreported = unsent.filter(({ error }) => error?.mayHaveExecuted !== false)
    lab.check("errors of unsent calls say so", unreported.length === 0, unreported.length)
    lab.checkTime("calls end at their deadline", 250, report.overdue)
    lab.check(
      "calls succeed when it is back",
      first?.error === undefined,
      first?.error?.code ?? "ok",
    )
    lab.checkTime("within 1 s", 1000, took)
  },
}

/** A frozen broker: no messages arrive, and no worker is reported lost. */
export const brokerFrozen: Scenario = {
  id: "F17",
  title: "broker frozen for 5 s",
  async run(lab) {
    const { caller } = await setUp(lab)
    const loading = caller.rate({ ...loadOf(lab), seconds: lab.pick(8, 8, 6) })
    await sleep(1000)
    lab.broker.freeze()
    await sleep(lab.pick(5000, 5000, 3000))
    lab.broker.thaw()
    const { first, took } = await firstAfter(lab, caller)
    await loading
    await caller.settled()
    const report = lab.audit()
    checkCodes(lab, report, ["TIMEOUT"])
    const accused = caller.transport.stats().calling.workersLost
    lab.check("no worker is reported lost", accused === 0, accused)
    lab.checkTime("calls end at their deadline", 250, report.overdue)
    lab.check(
      "calls succeed when it is back",
      first?.error === undefined,
      first?.error?.code ?? "ok",
    )
    lab.checkTime("within 1 s", 1000, took)
  },
}

/** Rejected credentials are retried at increasing intervals. */
const BACK_AFTER = 10_000

/** A broker that rejects valid credentials for a moment: all processes reconnect. */
export const brokerRefuses: Scenario = {
  id: "F18",
  title: "credentials refused for 2 s",
  async run(lab) {
    await lab.startBroker("right")
    const workers = await lab.workers(lab.pick(3, 3, 2))
    const hub = await lab.hub()
    const caller = lab.caller()
    const remote = lab.callerOver(createWebSocketTransport(hub.wsUrl), "far.lab.")
    await Promise.all([caller, remote].map((one) => lab.warm(one, workers)))
    const load = { ...loadOf(lab), timeout: 20_000 }
    // Calls that wait for the broker count towards a hub's limit of concurrent calls per caller.
    const loading = Promise.all([caller.rate(load), remote.rate({ ...load, perSecond: 10 })])
    await sleep(1000)
    await lab.refuseFor(2000)
    const isBack = await lab.until(
      async () => (await firstAfter(lab, caller)).first.error === undefined,
      BACK_AFTER,
    )
    await loading
    await Promise.all([caller.settled(), remote.settled()])
    // Those that were sent while the credentials were refused need not wait.
    checkCodes(lab, lab.audit(), ["UNAVAILABLE", "WORKER_LOST"])
    const refused = failedCalls(lab).filter(({ error }) => error?.code === "UNAVAILABLE")
    const unreported = refused.filter(({ error }) => error?.retryable !== true)
    lab.check("what was refused may be repeated", unreported.length === 0, unreported.length)
    lab.check("calls succeed again within 10 s", isBack, "")
    await checkServing(lab, caller, workers)
    await checkServing(lab, remote, workers)
    const nameless = remote.records.calls.filter(
      ({ error }) => error?.code === "UNAVAILABLE" && !error.message.includes('"far"'),
    )
    lab.check("the hub names its source", nameless.length === 0, nameless[0]?.error?.message ?? "")
  },
}

/** All processes start before the broker. */
export const brokerAbsent: Scenario = {
  id: "F19",
  title: "broker absent at the start",
  async run(lab) {
    const broker = await lab.startBroker()
    await broker.kill()
    const workers = await Promise.all(Array.from({ length: 3 }, () => lab.launchWorker()))
    const caller = lab.caller()
    const early = caller.call({ ms: 5, timeout: 20_000 })
    const short = await caller.call({ ms: 5, timeout: 500 })
    lab.check("a short call times out", short.error?.code === "TIMEOUT", short.error?.code ?? "ok")
    lab.check("the caller is not connected", !caller.transport.isConnected, "")
    lab.check(
      "workers run all the same",
      workers.every(({ isAlive }) => isAlive),
      "",
    )
    await sleep(lab.pick(3000, 1000))
    await broker.restart()
    const { took } = await firstAfter(lab, caller)
    const held = await early
    lab.check("what waited succeeds", held.error === undefined, held.error?.code ?? "ok")
    lab.checkTime("calls succeed within 1.5 s", 1500, took)
    await checkServing(lab, caller, workers)
  },
}

/** Makes a call, and returns how long it takes. */
async function firstAfter(
  lab: Lab,
  caller: LabCaller,
): Promise<{ readonly first: CallRecord; readonly took: number }> {
  const at = Date.now()
  const first = await caller.call({ ms: 1, timeout: lab.pick(5000, 5000, 20_000) })
  return { first, took: Date.now() - at }
}
