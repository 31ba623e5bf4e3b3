import { setTimeout as sleep } from "node:timers/promises"
import type { Child } from "../children.ts"
import type { Lab } from "../lab.ts"
import type { Scenario } from "../scenario.ts"
import type { CallRecord } from "../records.ts"
import { checkCodes, setUp } from "./common.ts"

/** Replaces workers that exit. Returns a function that stops it. */
function supervise(lab: Lab, workers: readonly Child[]): () => void {
  let isOver = false
  const watch = async (worker: Child): Promise<void> => {
    await worker.exit
    if (isOver) return
    await watch(await lab.launchWorker())
  }
  // A worker that cannot be replaced shows in the records of callers.
  for (const worker of workers) void watch(worker).catch(() => undefined)
  return () => {
    isOver = true
  }
}

/** An operation that crashes its process: after three crashes it is not sent to any worker for a while. */
export const crashLoop: Scenario = {
  id: "F3",
  title: "operation that crashes its worker",
  async run(lab) {
    const { caller, workers } = await setUp(lab)
    const end = supervise(lab, workers)
    const loading = new AbortController()
    const load = { perSecond: lab.pick(50, 30, 20), seconds: 60, ms: 100, timeout: 10_000 }
    const loaded = caller.rate(load, loading.signal)
    const crashes: CallRecord[] = []
    for (let at = 0; at < 6; at++) {
      crashes.push(await caller.call({ operation: "crash", ms: 50, timeout: 10_000 }))
      await sleep(200)
    }
    end()
    loading.abort()
    await loaded
    await caller.settled()
    const refused = crashes.slice(3).map(({ error }) => error)
    const runs = lab.journal().entries.filter(({ call }) => crashes.some(({ id }) => id === call))
    checkCodes(lab, lab.audit(), ["WORKER_LOST", "UNAVAILABLE"])
    lab.check("it crashes three workers at most", runs.length <= 3, runs.length)
    lab.check(
      "then it is UNAVAILABLE, with a time to wait",
      refused.every((error) => error?.code === "UNAVAILABLE" && (error.retryAfterMs ?? 0) > 0),
      crashes.map(({ error }) => error?.code ?? "ok").join(", "),
    )
    const others = lab.records().calls.filter(({ operationId }) => operationId === "lab.work")
    const unavailable = others.filter(({ error }) => error?.code === "UNAVAILABLE").length
    lab.check("other operations stay available", unavailable === 0, `${unavailable} UNAVAILABLE`)
  },
}
