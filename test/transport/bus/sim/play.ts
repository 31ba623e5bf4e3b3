import type { PendingOptions, PendingResponse } from "../../../../src/index.ts"
import type { Lab } from "./broker.ts"
import type { Outcome } from "./journal.ts"
import type { Work } from "./operations.ts"
import { TOO_LARGE } from "./plan.ts"
import type { Plan } from "./plan.ts"
import type { Process } from "./processes.ts"

/** Does what a plan says, and writes down what came of it. */
export async function play(plan: Plan, process: Process, lab: Lab): Promise<void> {
  const { world, journal } = lab
  const { clock } = process
  const controller = new AbortController()
  const ask = open(plan, process, controller.signal)
  const outcome: Outcome = {
    startedAt: world.time,
    requestId: ask.requestId,
    ends: 0,
    endedAt: -1,
    result: undefined,
    data: undefined,
    items: [],
    error: undefined,
    callerDiedAt: undefined,
  }
  journal.outcomes.set(plan.key, outcome)
  journal.say(`${process.name} wants ${plan.key}: ${plan.kind}`)
  if (plan.abortAfter !== undefined) {
    world.after(plan.abortAfter, () => clock.reach(() => controller.abort()))
  }
  try {
    outcome.result = await ask.settle(outcome)
  } catch (error) {
    outcome.result = "error"
    outcome.error = error
  }
  if (clock.isDead) return
  outcome.ends++
  outcome.endedAt = world.time
}

const CALLER = { id: "ann", scopes: [] }

interface Ask {
  readonly requestId: string
  settle(outcome: Outcome): Promise<"ok" | "left">
}

function open(plan: Plan, { clock, map }: Process, signal: AbortSignal): Ask {
  const { kind, key, work, items, failAt, largeAt, window, deadline, idleTimeout } = plan
  const padding = kind === "large" ? "x".repeat(TOO_LARGE) : undefined
  const input: Work = {
    key,
    work,
    items,
    failAt,
    largeAt,
    ...(padding !== undefined && { padding }),
  }
  const options: PendingOptions = {
    signal,
    identity: CALLER,
    deadline: deadline === undefined ? undefined : clock.wallTime() + deadline,
  }
  if (kind !== "stream" && kind !== "changes") {
    const isList = kind === "list"
    const id = isList ? "services.list" : `sim.${kind}`
    const call: PendingResponse = map.call(id, isList ? {} : input, options)
    const settle = async (outcome: Outcome): Promise<"ok"> => {
      const { data } = await call
      outcome.data = data
      return "ok"
    }
    return { requestId: call.requestId, settle }
  }
  const [id, given] = kind === "changes" ? ["services.changes", {}] : ["sim.stream", input]
  const stream = map.subscribe(id, given, { ...options, window, idleTimeout })
  const settle = async (outcome: Outcome): Promise<"ok" | "left"> => {
    for await (const { data } of stream) {
      outcome.items.push(data as Outcome["items"][number])
      if (outcome.items.length === plan.leaveAfter) return "left"
      if (plan.pace > 0) await clock.sleep(plan.pace)
    }
    return "ok"
  }
  return { requestId: stream.requestId, settle }
}
