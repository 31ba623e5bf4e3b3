import type { Attempt, Effect, Journal, Run } from "./journal.ts"
import type { Result } from "./operations.ts"
import type { History } from "./play.ts"

/** A call may settle so much later than its deadline. */
const GRACE = 1_000
/** News take so long over a link at most. */
const LINK_GRACE = 3_000

/** Every law that a history breaks, in words. Nothing, if all is well. */
export function violations({ journal, leftovers, plan }: History): string[] {
  return [
    ...journal.faults,
    ...twice(journal),
    ...journal.attempts.flatMap((attempt) => [
      ...denied(journal, attempt),
      ...late(attempt),
      ...others(journal, attempt),
    ]),
    ...crowded(journal, plan),
    ...leftovers,
    ...unended(journal),
  ]
}

/** Throws what is wrong with a history, and all that happened in it. */
export function audit(history: History): void {
  const found = violations(history)
  if (found.length === 0) return
  throw new Error([...found, "", "What happened:", ...history.journal.lines].join("\n"))
}

/** An effect happens once, whoever repeats what. A key counts until its time after the outcome is over. */
function twice({ effects }: Journal): string[] {
  const seen = new Map<string, Effect>()
  return effects.flatMap((effect) => {
    const { run, slot } = effect
    const { node } = run
    if (node.kind !== "pay") return []
    const id = `${node.id} ${slot}`
    const before = seen.get(id)
    seen.set(id, effect)
    if (before === undefined) return []
    // An effect may come late, long after a later run had its own.
    const [first, later] = before.run.id < run.id ? [before.run, run] : [run, before.run]
    return isForgotten(first, later)
      ? []
      : [`twice: ${node.id} had its effect in run ${before.run.id} and in run ${run.id}`]
  })
}

/** The key of a run, or of one above it, was not kept any more when the other run began. */
function isForgotten(run: Run, later: Run): boolean {
  const { kept } = run.node
  if (kept !== undefined) {
    const outcomeAt = Math.min(run.endedAt, run.startedAt + kept.limit)
    if (later.startedAt >= outcomeAt + kept.ttl) return true
  }
  const [above, laterAbove] = [run.attempt.parent, later.attempt.parent]
  return above !== undefined && laterAbove !== undefined && isForgotten(above, laterAbove)
}

/** An error that denies an effect, of the call or of calls under it, is true. */
function denied(journal: Journal, attempt: Attempt): string[] {
  const { error, id, node } = attempt
  if (error === undefined) return []
  // A repeat with a key that somebody keeps is safe, whatever happened.
  const invites = error.retryable && node.kind === "pay" && node.kept === undefined
  if (error.mayHaveExecuted && !invites) return []
  const [effect] = journal.effectsOf(attempt)
  if (effect === undefined) return []
  const says = error.mayHaveExecuted ? "may be repeated" : "had no effect"
  return [
    `denied: call ${id} of ${node.id} failed with ${error.code} and says that it ${says}; run ${effect.run.id} had one`,
  ]
}

function late({ id, node, settledAt, deadline }: Attempt): string[] {
  if (settledAt === undefined) return [`late: call ${id} of ${node.id} never ended`]
  return settledAt > deadline + GRACE
    ? [`late: call ${id} of ${node.id} ended at ${settledAt}, due at ${deadline}`]
    : []
}

/** A success is the result of a run of this very call, which went well. */
function others({ runs }: Journal, { id, node, error, data, settledAt }: Attempt): string[] {
  if (settledAt === undefined) return []
  if (error !== undefined) {
    const isReused = (error.details as { reason?: string } | undefined)?.reason === REUSED
    return isReused ? [`mixed: call ${id} of ${node.id} was told that its key is another's`] : []
  }
  const run = runs[(data as Result | undefined)?.run ?? -1]
  if (run === undefined) return [`mixed: call ${id} of ${node.id} succeeded without a run`]
  if (run.node !== node) return [`mixed: call ${id} of ${node.id} has the result of ${run.node.id}`]
  return run.wasOk ? [] : [`mixed: call ${id} of ${node.id} succeeded, and run ${run.id} failed`]
}

const REUSED = "IDEMPOTENCY_KEY_REUSED"

/** Never more handlers at once than the registry allows. */
function crowded({ runs }: Journal, plan: History["plan"]): string[] {
  const found = new Map<string, string>()
  const isBeside = (one: Run, other: Run): boolean =>
    other.node.operationId === one.node.operationId &&
    other.startedAt <= one.startedAt &&
    other.endedAt > one.startedAt
  for (const run of runs) {
    const { kind, home, operationId } = run.node
    const limit = plan.registries[home]?.[kind].concurrency
    if (!limit || found.has(operationId)) continue
    const count = runs.slice(0, run.id + 1).filter((other) => isBeside(run, other)).length
    if (count > limit.max)
      found.set(operationId, `crowded: ${count} runs of ${operationId} at once, of ${limit.max}`)
  }
  return [...found.values()]
}

/** A stream that a handler opened ends with the handler. */
function unended({ streams }: Journal): string[] {
  return streams.flatMap(({ run, endedAt }) =>
    endedAt > run.endedAt + LINK_GRACE
      ? [`open: a stream of run ${run.id} ended at ${endedAt}, and the run at ${run.endedAt}`]
      : [],
  )
}
