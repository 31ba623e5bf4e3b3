import { setTimeout as sleep } from "node:timers/promises"
import type { LabCaller } from "../caller.ts"
import type { Child } from "../children.ts"
import type { Lab } from "../lab.ts"
import type { FaultProxy } from "../proxy.ts"
import type { Scenario } from "../scenario.ts"
import { checkCodes, checkServing, loadOf } from "./common.ts"

/** Starts workers at the broker, and a caller with a bad connection to it. */
async function setUpBehind(
  lab: Lab,
): Promise<{ readonly caller: LabCaller; readonly proxy: FaultProxy }> {
  await lab.startBroker()
  const proxy = await lab.proxy()
  const workers = await lab.workers(lab.pick(3, 3, 2))
  const caller = lab.caller(proxy)
  await lab.warm(caller, workers)
  return { caller, proxy }
}

/** A slow connection: the guard adapts to the latency instead of repeating requests. */
export const latency: Scenario = {
  id: "F20",
  title: "500 ± 200 ms of latency",
  async run(lab) {
    const { caller, proxy } = await setUpBehind(lab)
    proxy.set({ delay: lab.pick(500, 500, 150), jitter: lab.pick(200, 200, 60) })
    await caller.rate({ ...loadOf(lab), timeout: lab.pick(5000, 5000, 20_000) })
    await caller.settled()
    const report = lab.audit()
    checkCodes(lab, report, [])
    const { repeats } = caller.transport.stats().calling
    // The first ones are sent before the latency is known.
    const most = Math.max(100, report.calls / 10)
    lab.check("at most a tenth is repeated", repeats <= most, `${repeats} of ${report.calls}`)
  },
}

/** Ten attempts a second, on Redis with two connections each. */
const MAX_CONNECTIONS = 80

/** Connections that break in the middle of a message, again and again. */
export const cuts: Scenario = {
  id: "F22",
  title: "connection cut every 1,000 bytes",
  async run(lab) {
    const { caller, proxy } = await setUpBehind(lab)
    const load = { ...loadOf(lab), timeout: lab.pick(10_000, 10_000, 20_000) }
    const loading = caller.rate(load)
    await sleep(1000)
    proxy.set({ cutAfter: 1000 })
    await sleep(lab.pick(3000, 3000, 1500))
    proxy.set({})
    await loading
    await caller.settled()
    checkCodes(lab, lab.audit(), [])
    lab.check("connections were cut", proxy.cuts > 1, proxy.cuts)
    // The caller pauses between attempts, even if every connection is cut.
    lab.check(
      "the caller pauses between attempts",
      proxy.accepted <= MAX_CONNECTIONS,
      proxy.accepted,
    )
    lab.facts["cuts"] = proxy.cuts
  },
}

/**
 * Bits change in transit, in messages and in the protocol of the broker: damaged data is never mistaken for
 * valid data.
 */
export const damage: Scenario = {
  id: "F25",
  title: "one in 50 packets has a wrong bit",
  async run(lab) {
    await lab.startBroker()
    const proxies = [await lab.proxy(), await lab.proxy()] as const
    const [others, [behind]] = await Promise.all([
      lab.workers(lab.pick(2, 2, 1)),
      lab.workers(1, { proxy: proxies[0] }) as Promise<[Child]>,
    ])
    const caller = lab.caller(proxies[1])
    await lab.warm(caller, [...others, behind])
    const loading = caller.rate({ ...loadOf(lab), timeout: lab.pick(10_000, 10_000, 20_000) })
    const streams = [1, 2, 3].map(() => caller.stream({ count: 400, bytes: 200, every: 10 }))
    await sleep(500)
    for (const proxy of proxies) proxy.set({ flip: 0.02 })
    await sleep(lab.pick(5000, 4000, 2000))
    for (const proxy of proxies) proxy.set({})
    await loading
    await Promise.all([...streams, caller.settled()])
    const damaged = proxies.reduce((sum, proxy) => sum + proxy.damaged, 0)
    lab.facts["damaged"] = damaged
    lab.check("something was damaged", damaged > 0, damaged)
    // A request with a damaged address is rejected by its receiver.
    const honest = ["WORKER_LOST", "TIMEOUT", "UNAVAILABLE", "DATA_LOSS", "VALIDATION_ERROR"]
    checkCodes(lab, lab.audit(), honest)
    // Affected workers serve again, and affected callers call again.
    await checkServing(lab, caller, [...others, behind])
    lab.check("its process lives", behind.isAlive, "")
  },
}

/** One direction goes silent, and then the connection: what was answered meanwhile is sent again. */
export const oneWayLoss: Scenario = {
  id: "F23",
  title: "one-way loss for 2 s, then a reset",
  async run(lab) {
    const { caller, proxy } = await setUpBehind(lab)
    const loading = caller.rate({ ...loadOf(lab), timeout: lab.pick(10_000, 10_000, 20_000) })
    for (const stall of ["down", "up"] as const) {
      await sleep(lab.pick(1000, 700, 500))
      proxy.set({ stall })
      await sleep(lab.pick(2000, 1200, 500))
      // All that waits there is lost.
      proxy.reset()
      proxy.set({})
    }
    await loading
    await caller.settled()
    checkCodes(lab, lab.audit(), [])
  },
}
