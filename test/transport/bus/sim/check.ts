import { isCallError } from "../../../../src/index.ts"
import type { CallError } from "../../../../src/index.ts"
import type { History } from "./history.ts"
import type { Journal, Outcome, Run } from "./journal.ts"
import { PLANNED } from "./operations.ts"
import { CALL_TIMEOUT, isIdempotent, LONGEST_DELAY } from "./plan.ts"
import type { Plan, Scenario } from "./plan.ts"
import { brokenPromises } from "./promises.ts"

/** What a call may take beyond its deadline. */
const LATE = 250
/** What a handler may take to stop. */
const GRACE = 1000
/** After which a worker gives up a caller that says nothing, and callers go on saying something. */
const CALLER_FORGOTTEN = 65_000
const END = Number.POSITIVE_INFINITY

/** One plan, with all that is known of it. */
interface Case {
  readonly plan: Plan
  readonly outcome: Outcome
  readonly runs: readonly Run[]
  readonly scenario: Scenario
  readonly journal: Journal
  readonly closedAt: number
  readonly say: (what: string) => void
}

/** Everything in a history that should not be, in words. Nothing, if all is well. */
export function violations(history: History): string[] {
  const { scenario, journal, leftovers, closedAt } = history
  const found: string[] = [...journal.faults, ...leftovers]
  for (const plan of scenario.plans) {
    const outcome = journal.outcomes.get(plan.key)
    // The caller died before it began.
    if (outcome === undefined) continue
    const runs = runsOf(plan, journal)
    const say = (what: string): void => void found.push(`${plan.key} (${plan.kind}): ${what}`)
    const one: Case = { plan, outcome, runs, scenario, journal, closedAt, say }
    checkEnd(one)
    checkRepeats(one)
    if (outcome.result === "error") checkError(one)
    else checkSuccess(one)
    if (plan.kind === "stream") checkStream(one)
    else if (plan.kind === "changes") checkChanges(one)
    checkLateStarts(one)
    checkOrphans(one)
  }
  found.push(...badAccounts(history), ...brokenPromises(history))
  return found
}

/** A repeat costs one while any is left, and a success earns a tenth. */
function badAccounts({ scenario, journal, budgets }: History): string[] {
  const { retryBudget, plans } = scenario
  return budgets.flatMap(({ caller, repeats, left }) => {
    const own = plans.filter((plan) => plan.caller === caller && journal.outcomes.has(plan.key))
    const earned = own.length / 10
    const text = `caller${caller} has ${left} of ${retryBudget} left for repeats after ${repeats}`
    const isUnpaid = !mayBeRefused(scenario) && left > Math.max(0, retryBudget - repeats) + earned
    return isUnpaid || left < Math.max(0, retryBudget - repeats) ? [text] : []
  })
}

/** Workers that are full, leave or stood still send calls elsewhere: that is paid for by nobody. */
function mayBeRefused({ limits, maxKeptBytes, accidents }: Scenario): boolean {
  if (limits.maxInFlight !== undefined || maxKeptBytes !== undefined) return true
  return accidents.some(({ what }) => /leave|close|freeze/.test(what))
}

/** The runs of a plan. A handler that only passes a call on counts as what it passes on. */
function runsOf({ key, kind }: Plan, journal: Journal): Run[] {
  const all = journal.runs.filter((run) => run.key === key)
  return kind === "relay" ? all.filter(({ operation }) => operation !== "sim.relay") : all
}

/** Once, and in time. */
function checkEnd(one: Case): void {
  const { plan, outcome, say } = one
  if (outcome.callerDiedAt !== undefined) return
  if (outcome.ends !== 1) {
    say(outcome.ends === 0 ? "never ended" : `ended ${outcome.ends} times`)
    return
  }
  // A consumer learns of an end when it asks, after the items that came before.
  const consumer = isStream(plan) ? (plan.window + 1) * plan.pace : 0
  const due = Math.min(dueAt(one), outcome.startedAt + (plan.abortAfter ?? END))
  const limit = awake(one, due) + LATE + consumer
  if (outcome.endedAt > limit) {
    say(`ended at ${outcome.endedAt}, and was due at ${Math.round(due)}`)
  }
}

/** No effect twice. */
function checkRepeats({ plan, runs, journal, say }: Case): void {
  const isHarmless =
    plan.kind === "mixed" ? runs.every((run) => run.isIdempotent) : isIdempotent(plan)
  if (runs.length > 1 && !isHarmless) say(`ran ${runs.length} times`)
  if (plan.kind !== "relay") return
  const relays = journal.runs.filter(({ key }) => key === plan.key).length - runs.length
  if (relays > 1) say(`ran ${relays} times, as a relay`)
}

/** Says what there is to say, and the truth. */
function checkError({ plan, outcome, runs, say }: Case): void {
  const { error } = outcome
  if (!isCallError(error)) {
    say(`failed with what is no CallError: ${String(error)}`)
    return
  }
  const { code, retryable, mayHaveExecuted } = error
  if (typeof retryable !== "boolean" || typeof mayHaveExecuted !== "boolean") {
    say(`failed with ${code} without saying whether it ran`)
  }
  if (!isExpected(error, plan)) say(`failed with ${code}: ${error.message}`)
  if (!mayHaveExecuted && runs.length > 0) {
    const [first] = runs as [Run]
    say(`${code} at ${outcome.endedAt} says that it did not run, and it did at ${first.startedAt}`)
  }
  if (retryable && mayHaveExecuted && !isIdempotent(plan) && plan.kind !== "mixed") {
    say(`${code} says that it may be repeated, and it may have run`)
  }
}

const CODES = new Set(["TIMEOUT", "ABORTED", "UNAVAILABLE", "WORKER_LOST", "OVERLOADED"])
const STREAM_CODES = new Set(["DATA_LOSS", "SLOW_CONSUMER", PLANNED])

function isExpected({ code }: CallError, { kind, largeAt }: Plan): boolean {
  if (CODES.has(code)) return true
  switch (kind) {
    case "stream":
      return STREAM_CODES.has(code) || (code === "PAYLOAD_TOO_LARGE" && largeAt !== undefined)
    case "fail":
      return code === PLANNED
    case "rare":
    case "missing":
      return code === "OPERATION_NOT_FOUND"
    case "large":
    case "largeResult":
      return code === "PAYLOAD_TOO_LARGE"
    default:
      return false
  }
}

/** What came is what a run of it gave. */
function checkSuccess({ plan, outcome, runs, say }: Case): void {
  const { result, data, endedAt } = outcome
  if (result !== "ok" || plan.kind === "list") return
  if (plan.kind === "changes") {
    say("ended, and nobody ended it")
    return
  }
  if (["fail", "large", "largeResult", "missing"].includes(plan.kind)) {
    say("succeeded though it cannot")
    return
  }
  if (runs.length === 0) say("succeeded without having run")
  if (plan.kind === "stream") return
  const { key, run } = (data ?? {}) as { readonly key?: unknown; readonly run?: unknown }
  if (key !== plan.key) say("got the data of another")
  else if (!runs.some((one) => one.number === run && (one.endedAt ?? END) <= endedAt)) {
    say(`got the result of run ${String(run)}, which is none of its own`)
  }
}

/** 1, 2, 3 without a gap and of one run; the end after the last; an error after all that came before it. */
function checkStream({ plan, outcome, scenario, say }: Case): void {
  const { items, result, error } = outcome
  const wrong = items.findIndex(({ at }, index) => at !== index + 1)
  if (wrong !== -1) say(`item ${wrong + 1} was ${items[wrong]?.at}`)
  if (new Set(items.map(({ run }) => run)).size > 1) say("got items of several runs")
  const { failAt, largeAt = END } = plan
  const willFail = failAt !== undefined || largeAt <= plan.items
  if (result === "ok") {
    if (willFail) say("ended well though its handler fails")
    else if (items.length !== plan.items) say(`ended after ${items.length} of ${plan.items} items`)
  }
  if (!isCallError(error, PLANNED)) return
  if (!willFail) say("failed as it was not planned")
  // An error has no number: where messages are lost or overtaken, it may come early.
  const isEarly = items.length !== (failAt ?? 0) - 1
  if (isEarly && scenario.mood !== "wild") say(`failed early, after ${items.length} items`)
}

/** That it listens, and from then on that there is something new. */
function checkChanges({ outcome, say }: Case): void {
  const wrong = outcome.items.findIndex(({ type }, at) => type !== (at === 0 ? "ready" : "reset"))
  if (wrong !== -1) say(`change ${wrong + 1} was ${outcome.items[wrong]?.type}`)
}

/** What is granted may start late only if something held it up, or if nobody there heard that its caller left. */
function checkLateStarts(one: Case): void {
  const { plan, outcome, runs, journal, scenario, say } = one
  if (outcome.ends === 0) return
  // A harmless one needs no grant: any of its requests may be late.
  const mayNeedNone = plan.kind === "mixed" || isIdempotent(plan)
  const isUnheard = journal.missedAborts.has(outcome.requestId)
  const mayBeLate = isUnheard || (mayNeedNone && scenario.mood === "wild")
  const from = mayBeLate ? Math.max(outcome.endedAt, dueAt(one)) : outcome.endedAt
  const limit = from + LONGEST_DELAY + troubleIn(one)
  for (const { startedAt } of runs) {
    if (startedAt > limit) say(`started at ${startedAt}, and was over at ${outcome.endedAt}`)
  }
}

/** Soon after nobody waits for it any more, nothing works on it. */
function checkOrphans(one: Case): void {
  const { plan, outcome, runs, journal, closedAt, say } = one
  const { requestId, callerDiedAt, ends, endedAt } = outcome
  const over = callerDiedAt ?? (ends === 0 ? END : endedAt)
  // The word that the caller left may not arrive: then the deadline counts, or that nothing more is heard.
  const mayMissIt = journal.missedAborts.has(requestId) || callerDiedAt !== undefined
  const deadline = dueAt(one)
  const forgotten = deadline === END ? over + CALLER_FORGOTTEN : deadline
  const from = mayMissIt ? Math.max(over, forgotten) : over
  const limit = from + LONGEST_DELAY + GRACE + troubleIn(one)
  for (const run of runs) {
    if (run.process.isDead || limit > closedAt) continue
    const begun = Math.max(limit, run.startedAt + GRACE)
    const until = Math.min(
      run.endedAt ?? END,
      plan.kind === "stubborn" ? (run.abortedAt ?? END) : END,
    )
    if (until > begun)
      say(`run ${run.number} was at work until ${until}, and nobody waited after ${over}`)
    // A handler that was aborted stops.
    if (
      plan.kind !== "stubborn" &&
      (run.endedAt ?? END) > (run.abortedAt ?? END) + GRACE + troubleIn(one)
    ) {
      say(`run ${run.number} was at work until ${run.endedAt}, and was stopped at ${run.abortedAt}`)
    }
  }
}

function isStream({ kind }: Plan): boolean {
  return kind === "stream" || kind === "changes"
}

/** When a plan has ended, whatever happens. */
function dueAt({ plan, outcome }: Case): number {
  const { deadline = isStream(plan) ? END : CALL_TIMEOUT } = plan
  return outcome.startedAt + deadline
}

/** A process that stands still learns of a deadline when it goes on. */
function awake({ plan, journal }: Case, time: number): number {
  const own = journal.troubles.filter(
    ({ what, whom }) => what === "freeze" && whom === `caller${plan.caller}`,
  )
  return own.reduce((at, { from, to }) => (at >= from && at < to ? to : at), time)
}

/** Milliseconds for which anything was out of order. */
function troubleIn({ journal }: Case): number {
  const all = journal.troubles.map(({ from, to }) => to - from)
  return all.reduce((sum, each) => sum + each, 0)
}
