import { setTimeout as sleep } from "node:timers/promises"
import type { Broker } from "../../../test/support/brokers.ts"
import { startBroker } from "../brokers.ts"
import type { Lab } from "../lab.ts"
import { FaultProxy } from "../proxy.ts"
import type { Scenario } from "../scenario.ts"
import { checkCodes } from "./common.ts"

/** A Redis that keeps idempotency keys, and the proxy that workers reach it through. */
interface KeyStore {
  readonly redis: Broker
  readonly proxy: FaultProxy
}

/** Calls with keys, before, during and after a fault of the Redis that keeps them: each runs once and succeeds. */
async function runWithKeys(
  lab: Lab,
  workerCount: number,
  fault: (store: KeyStore) => Promise<void>,
): Promise<void> {
  await lab.startBroker()
  const redis = lab.own(await startBroker("redis"))
  const proxy = lab.own(await FaultProxy.start(redis.port, lab.random))
  const workers = await lab.workers(workerCount, { keys: proxy.port })
  const caller = lab.caller()
  await lab.warm(caller, workers)
  const calls: Promise<unknown>[] = []
  const make = (): void => {
    for (let made = 0; made < lab.pick(50, 20, 5); made++)
      calls.push(caller.repeat({ ms: 1000, timeout: 20_000 }, 60_000))
  }
  make()
  await sleep(500)
  const faulty = fault({ redis, proxy })
  make()
  await faulty
  make()
  await Promise.all(calls)
  checkCodes(lab, lab.audit(), [])
  lab.facts["refused attempts"] = caller.refused
}

export const keysFrozen: Scenario = {
  id: "F65",
  title: "Redis of idempotency keys frozen for 2 s",
  run: (lab) =>
    runWithKeys(lab, 2, async ({ redis }) => {
      redis.freeze()
      await sleep(2000)
      redis.thaw()
    }),
}

/** One worker, which remembers its own keys; another one can only know those in the store. */
export const keysEmptied: Scenario = {
  id: "F66",
  title: "Redis of idempotency keys restarts empty",
  run: (lab) => runWithKeys(lab, 1, ({ redis }) => redis.restart()),
}

export const keysUnanswered: Scenario = {
  id: "F67",
  title: "replies about idempotency keys lost",
  run: (lab) =>
    runWithKeys(lab, 2, async ({ proxy }) => {
      proxy.set({ stall: "down" })
      await sleep(1000)
      proxy.reset()
      proxy.set({})
    }),
}
