import { isCallError } from "../../../../src/index.ts"
import type { History } from "./history.ts"
import type { Outcome, Trouble } from "./journal.ts"
import { PLANNED } from "./operations.ts"
import { isIdempotent } from "./plan.ts"
import type { Mood, Plan } from "./plan.ts"

/** Milliseconds after which calls on a worker that is killed, or stands still, are over. */
const LOST_AFTER = { killed: 3000, frozen: 4000 }
/** Milliseconds after which it is certain that nobody serves something. */
const NOBODY_AFTER = 500
/** Messages that take long make all of it take longer. */
const SLACK = 1000

/** What has to come out well in a history of this mood, and did not. */
export function brokenPromises(history: History): string[] {
  const { scenario, journal } = history
  const found: string[] = []
  for (const plan of scenario.plans) {
    const outcome = journal.outcomes.get(plan.key)
    if (outcome === undefined || !isPromised(scenario.mood, plan)) continue
    const expected = scenario.mood === "deserted" ? withoutWorkers(plan) : expectedOf(plan)
    const got = endOf(outcome)
    if (got === expected) continue
    if (got === "WORKER_LOST" && mayLoseWorker(scenario.mood, plan)) continue
    // Where messages take long, nobody may have been heard of yet.
    if (got === "UNAVAILABLE" && plan.kind === "missing" && scenario.faults.latency[1] > 50)
      continue
    const why = isCallError(outcome.error) ? outcome.error.message : ""
    found.push(
      `${plan.key} (${plan.kind}): came out as ${got}, not ${expected} (${scenario.mood}) ${why}`,
    )
  }
  found.push(...lateRefusals(history))
  for (const trouble of journal.troubles) found.push(...lateLosses(history, trouble))
  return found
}

/** Whether nothing in such a history could explain another end than the planned one. */
function isPromised(mood: Mood, plan: Plan): boolean {
  if (!plan.isRelaxed || mood === "wild") return false
  // What is too large for the broker may be found out before or after that nobody is there.
  if (mood === "deserted" && plan.kind === "large") return false
  // Only some workers serve it; or one that may run it twice is lost, and only others are left.
  if (plan.kind === "rare") return ["calm", "deserted", "restarts"].includes(mood)
  return plan.kind !== "mixed" || mood === "calm" || mood === "deserted"
}

function mayLoseWorker(mood: Mood, plan: Plan): boolean {
  return (mood === "killed" || mood === "frozen") && !isIdempotent(plan)
}

function expectedOf(plan: Plan): string {
  const { kind, items, leaveAfter = Infinity, failAt = Infinity, largeAt = Infinity } = plan
  switch (kind) {
    case "fail":
      return PLANNED
    case "missing":
      return "OPERATION_NOT_FOUND"
    case "large":
    case "largeResult":
      return "PAYLOAD_TOO_LARGE"
    case "stream":
      if (leaveAfter <= Math.min(items, failAt - 1, largeAt - 1)) return "left"
      if (largeAt <= items && largeAt < failAt) return "PAYLOAD_TOO_LARGE"
      return failAt <= items + 1 ? PLANNED : "ok"
    default:
      return "ok"
  }
}

function withoutWorkers({ kind }: Plan): string {
  return kind === "list" ? "ok" : "UNAVAILABLE"
}

/** Where there is nobody, callers hear so soon. */
function lateRefusals({ scenario, journal }: History): string[] {
  if (scenario.mood !== "deserted") return []
  const [, latency] = scenario.faults.latency
  const limit = NOBODY_AFTER + 2 * latency + (scenario.signMs ?? 0)
  return [...journal.outcomes].flatMap(([key, { endedAt, startedAt, error }]) => {
    const isLate = isCallError(error, "UNAVAILABLE") && endedAt - startedAt > limit
    return isLate ? [`${key}: it took ${endedAt - startedAt} ms to find that nobody is there`] : []
  })
}

function endOf({ result, error }: Outcome): string {
  return isCallError(error) ? error.code : String(result)
}

/** Calls that were on a worker that stopped, and whose callers had to wait too long to hear of it. */
function lateLosses({ scenario, journal }: History, { what, whom, from, to }: Trouble): string[] {
  const { mood } = scenario
  if (mood !== "killed" && mood !== "frozen") return []
  const limit = from + LOST_AFTER[mood] + SLACK
  if (what === "freeze" && to < limit) return []
  return journal.runs.flatMap(({ key, worker, startedAt, endedAt, isIdempotent: isHarmless }) => {
    const isOnIt = worker === whom && startedAt <= from && (endedAt ?? limit) >= limit
    const plan = scenario.plans.find((one) => one.key === key)
    const outcome = journal.outcomes.get(key)
    if (!isOnIt || plan === undefined || outcome === undefined || isHarmless) return []
    const isLate = outcome.ends === 0 || outcome.endedAt > limit
    return isLate
      ? [
          `${key} (${plan.kind}): its worker was lost at ${from}, and it heard so at ${outcome.endedAt}`,
        ]
      : []
  })
}
