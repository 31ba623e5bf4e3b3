import { isCallError } from "../../../src/index.ts"
import type { History } from "./history.ts"
import type { Execution, Journal, Outcome } from "./journal.ts"
import { PLANNED } from "./operations.ts"
import { CALL_TIMEOUT, LONGEST_DELAY } from "./plan.ts"
import type { Plan, Scenario } from "./plan.ts"

/** Handlers may go on for this long after nobody waits, beside what the network takes. */
const GRACE = 1000
const END = Number.POSITIVE_INFINITY

/** Everything in a history that should not be, in words. Nothing, if all is well. */
export function violations({ scenario, journal, leftovers }: History): string[] {
  const found: string[] = [...journal.faults, ...leftovers]
  for (const plan of scenario.plans) {
    const outcome = journal.outcomes.get(plan.key)
    // The caller died before it began.
    if (outcome === undefined) continue
    const of = journal.executions.filter(({ key }) => key === plan.key)
    const say = (what: string): void => void found.push(`${plan.key} (${plan.kind}): ${what}`)
    checkEnd(plan, outcome, say)
    checkResult(plan, outcome, say)
    if (plan.kind === "stream") checkStream(scenario, plan, outcome, journal, say)
    checkExecutions(plan, outcome, of, say)
    checkOrphans(plan, outcome, of, journal, say)
    checkFlow(plan, outcome, of, journal, say)
    if (isUnharmed(scenario, plan, outcome, journal)) checkAsPlanned(plan, outcome, say)
  }
  return found
}

type Say = (what: string) => void

/** Once, and in time. */
function checkEnd(plan: Plan, outcome: Outcome, say: Say): void {
  if (outcome.callerDiedAt !== undefined) return
  if (outcome.ends !== 1) {
    say(outcome.ends === 0 ? "never ended" : `ended ${outcome.ends} times`)
    return
  }
  const limit = dueAfter(plan)
  // A consumer learns of an end when it asks, after the items that came before.
  const late = plan.kind === "stream" ? (plan.window + 1) * plan.pace : 0
  const took = outcome.endedAt - outcome.startedAt
  if (took > limit + late) say(`ended after ${took} ms, with a deadline of ${limit} ms`)
}

/** Data of its own, or an error that says what there is to say. */
function checkResult(plan: Plan, outcome: Outcome, say: Say): void {
  const { result, data, error } = outcome
  if (result === "ok" && plan.kind !== "stream") {
    if ((data as { key?: unknown } | undefined)?.key !== plan.key) say("got the data of another")
    if (plan.kind === "fail") say("succeeded though its handler fails")
  }
  if (result !== "error") return
  if (!isCallError(error)) {
    say(`failed with what is no CallError: ${String(error)}`)
    return
  }
  if (typeof error.retryable !== "boolean" || typeof error.mayHaveExecuted !== "boolean") {
    say(`failed with ${error.code} without saying whether it ran`)
  }
  if (error.code !== PLANNED && !CODES.has(error.code))
    say(`failed with ${error.code}: ${error.message}`)
}

const CODES = new Set(["TIMEOUT", "ABORTED", "UNAVAILABLE", "DATA_LOSS", "SLOW_CONSUMER"])

/** 1, 2, 3 without a gap; the end after the last; an error after all that came before it. */
function checkStream(
  scenario: Scenario,
  plan: Plan,
  { items, result, error }: Outcome,
  journal: Journal,
  say: Say,
): void {
  const wrong = items.findIndex((item, index) => item !== index + 1)
  if (wrong !== -1) say(`item ${wrong + 1} was ${items[wrong]}`)
  const willFail = plan.failAt !== undefined && plan.failAt <= plan.items + 1
  if (result === "ok") {
    if (willFail) say("ended well though its handler fails")
    else if (items.length !== plan.items) say(`ended after ${items.length} of ${plan.items} items`)
  }
  const isPlanned = isCallError(error, PLANNED)
  if (isPlanned && !willFail) say("failed as it was not planned")
  // An error has no number: where the network does not keep the order, it may come early.
  const mayBeEarly =
    scenario.faults.reorders || journal.harms.get(plan.key)?.has("dropped") === true
  if (isPlanned && !mayBeEarly && items.length !== (plan.failAt ?? 0) - 1) {
    say(`failed after ${items.length} items instead of ${(plan.failAt ?? 0) - 1}`)
  }
}

/** No request runs twice, and what did not run is not said to have. */
function checkExecutions(plan: Plan, outcome: Outcome, of: readonly Execution[], say: Say): void {
  const counts = new Map<string, number>()
  for (const { operation, depth } of of) {
    const id = `${operation} at depth ${depth}`
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  for (const [id, count] of counts) if (count > 1) say(`${id} ran ${count} times`)
  const { result, error } = outcome
  // A handler that only forwards a call reports what it received.
  const runs = plan.kind === "relay" ? of.filter(({ operation }) => operation === "sim.work") : of
  if (result === "ok" && runs.length === 0) say("succeeded without having run")
  if (result !== "error" || !isCallError(error) || runs.length === 0) return
  const { code, mayHaveExecuted } = error
  if (!mayHaveExecuted) say(`${code} says that it did not run, and it did`)
}

/** Soon after nobody waits for it any more, nothing works on it. */
function checkOrphans(
  plan: Plan,
  outcome: Outcome,
  of: readonly Execution[],
  journal: Journal,
  say: Say,
): void {
  const over = outcome.callerDiedAt ?? (outcome.ends === 0 ? END : outcome.endedAt)
  const harms = journal.harms.get(plan.key)
  // The word that the caller left may be lost, or come before the request: then the deadline counts.
  const mayMissIt = harms?.has("abort dropped") === true || harms?.has("overtaken") === true
  const due = outcome.startedAt + dueAfter(plan) + LONGEST_DELAY * 2
  // Each hop takes its time; nested work is notified by its parent.
  const limit = Math.max(over + LONGEST_DELAY * 2, mayMissIt ? due : 0) + GRACE
  for (const { operation, endedAt, abortedAt, node } of of) {
    if (node.isDead) continue
    const until = Math.min(endedAt ?? END, plan.kind === "stubborn" ? (abortedAt ?? END) : END)
    if (until > limit) {
      say(`${operation} was at work until ${until}, and nobody waited after ${over}`)
    }
  }
}

/** Never more items on the way than were granted. */
function checkFlow(
  plan: Plan,
  outcome: Outcome,
  of: readonly Execution[],
  journal: Journal,
  say: Say,
): void {
  if (plan.kind !== "stream") return
  for (const { produced, requestId } of of) {
    const granted = journal.granted.get(requestId) ?? 0
    if (produced > granted) say(`gave ${produced} items with a credit of ${granted}`)
  }
  const arrived = journal.arrived.get(outcome.requestId)?.size ?? 0
  // Those that arrive after the consumer left were sent before it did.
  const isOver = outcome.ends > 0
  const ahead = arrived - outcome.items.length
  if (isOver && ahead > plan.window + Math.ceil(plan.window / 2)) {
    say(`had ${ahead} items waiting, with a window of ${plan.window}`)
  }
}

/** Nothing happened to it that could explain another end than the planned one. */
function isUnharmed(scenario: Scenario, plan: Plan, outcome: Outcome, journal: Journal): boolean {
  if (!plan.isRelaxed || outcome.callerDiedAt !== undefined) return false
  if (journal.harms.has(plan.key)) return false
  const until = outcome.ends === 0 ? END : outcome.endedAt
  return !journal.cuts.some(
    ({ link, from, to }) =>
      (link === plan.caller || (link === scenario.callers && plan.kind === "relay")) &&
      from <= until &&
      to >= outcome.startedAt,
  )
}

function checkAsPlanned(plan: Plan, { result, error, items }: Outcome, say: Say): void {
  const why = isCallError(error) ? `${error.code}: ${error.message}` : String(error)
  const isFailure =
    plan.kind === "fail" || plan.kind === "stream" ? isCallError(error, PLANNED) : false
  if (plan.kind === "stream") {
    const { leaveAfter = END, failAt = END } = plan
    const full = Math.min(plan.items, failAt - 1)
    const expected = leaveAfter <= full ? "left" : failAt <= plan.items + 1 ? "error" : "ok"
    if (result !== expected || (result === "error" && !isFailure)) {
      say(`came out as ${result} after ${items.length} items, without a fault (${why})`)
    }
    return
  }
  const expected = plan.kind === "fail" ? "error" : "ok"
  if (result !== expected || (result === "error" && !isFailure)) {
    say(`came out as ${result}, without a fault (${why})`)
  }
}

/** Milliseconds after which a plan has ended, whatever happens. */
function dueAfter({ kind, deadline }: Plan): number {
  return deadline ?? (kind === "stream" ? END : CALL_TIMEOUT)
}
