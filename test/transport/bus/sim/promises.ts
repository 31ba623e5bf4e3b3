import { isCallError } from "../../../../src/index.ts"
import type { History } from "./history.ts"
import type { Outcome, Trouble } from "./journal.ts"
import { PLANNED } from "./operations.ts"
import { isIdempotent } from "./plan.ts"
import type { Mood, Plan } from "./plan.ts"

/** Milliseconds after which calls on a worker that is killed, or stands still, are over. */
const LOST_AFTER = { killed: 3000, frozen: 4000 }
/** Messages that take long make all of it take longer. */
const SLACK = 1000

/** What has to come out well in a history of this mood, and did not. */
export function brokenPromises(history: History): string[] {
  const { scenario, journal } = history
  const found: string[] = []
  for (const plan of scenario.plans) {
    const outcome = journal.outcomes.get(plan.key)
    if (outcome === undefined || !isPromised(scenario.mood, plan)) continue
    const expected = expectedOf(plan)
    const got = endOf(outcome)
    if (got === expected) continue
    if (got === "WORKER_LOST" && mayLoseWorker(scenario.mood, plan)) continue
    const why = isCallError(outcome.error) ? outcome.error.message : ""
    found.push(
      `${plan.key} (${plan.kind}): came out as ${got}, not ${expected} (${scenario.mood}) ${why}`,
    )
  }
  for (const trouble of journal.troubles) found.push(...lateLosses(history, trouble))
  return found
}

/** Whether nothing in such a history could explain another end than the planned one. */
function isPromised(mood: Mood, plan: Plan): boolean {
  if (!plan.isRelaxed || mood === "wild") return false
  // Only some workers serve it.
  if (plan.kind === "rare") return mood === "calm" || mood === "restarts"
  return true
}

function mayLoseWorker(mood: Mood, plan: Plan): boolean {
  return (mood === "killed" || mood === "frozen") && !isIdempotent(plan)
}

function expectedOf(plan: Plan): string {
  const { kind, items, leaveAfter = Infinity, failAt = Infinity } = plan
  switch (kind) {
    case "fail":
      return PLANNED
    case "missing":
      return "OPERATION_NOT_FOUND"
    case "large":
    case "largeResult":
      return "PAYLOAD_TOO_LARGE"
    case "stream":
      if (leaveAfter <= Math.min(items, failAt - 1)) return "left"
      return failAt <= items + 1 ? PLANNED : "ok"
    default:
      return "ok"
  }
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
  return journal.runs.flatMap(({ key, worker, startedAt, endedAt }) => {
    const isOnIt = worker === whom && startedAt <= from && (endedAt ?? limit) >= limit
    const plan = scenario.plans.find((one) => one.key === key)
    const outcome = journal.outcomes.get(key)
    if (!isOnIt || plan === undefined || outcome === undefined || isIdempotent(plan)) return []
    const isLate = outcome.ends === 0 || outcome.endedAt > limit
    return isLate
      ? [
          `${key} (${plan.kind}): its worker was lost at ${from}, and it heard so at ${outcome.endedAt}`,
        ]
      : []
  })
}
