import type { BreakerStatus, OperationPolicyState, PolicyState } from "../api/model.ts"
import { formatBytes, formatCount } from "../ui/format.ts"
import type { Tone } from "../ui/tone.ts"
import { groupBy } from "../ui/group-by.ts"
import { untilText } from "./source-list.ts"

/** What policies know, and when they were asked. */
export interface TimedPolicyState extends PolicyState {
  readonly at: number
}

/** The breakers of one source, those that refuse calls first. */
export interface SourceBreakers {
  readonly breakers: readonly BreakerStatus[]
  /** When this was their state. */
  readonly at: number
}

const URGENCY: Readonly<Record<BreakerStatus["state"], number>> = {
  open: 0,
  "half-open": 1,
  closed: 2,
}

export function breakersBySource(
  state: Pick<TimedPolicyState, "breakers" | "at"> | undefined,
): ReadonlyMap<string, SourceBreakers> {
  const { breakers = [], at = 0 } = state ?? {}
  const sorted = breakers.toSorted((a, b) => URGENCY[a.state] - URGENCY[b.state])
  const groups = groupBy(sorted, ({ source }) => source)
  return new Map(Array.from(groups, ([source, own]) => [source, { breakers: own, at }]))
}

/** The state of a breaker as a badge. */
export function breakerBadge(state: BreakerStatus["state"]): readonly [Tone, string] {
  const tones = { open: "bad", "half-open": "warn", closed: "good" } as const
  return [tones[state], `circuit ${state.replace("-", " ")}`]
}

/** What a breaker does with calls, in a sentence or two. */
export function breakerText(breaker: BreakerStatus, at: number, now: number): string {
  const { name, state, probing, retryAfterMs, lastCode } = breaker
  const last = lastCode === undefined ? "" : ` The last failure was ${lastCode}.`
  switch (state) {
    case "open":
      return `Calls of ${name} are refused.${last} Next try ${untilText(at + retryAfterMs, now)}.`
    case "half-open":
      return probing > 0
        ? `${formatCount(probing, "call")} of ${name} ${probing === 1 ? "tries" : "try"} whether it works again; others are refused.${last}`
        : `The next call of ${name} tries whether it works again.${last}`
    case "closed":
      return `Calls of ${name} go through.${last}`
  }
}

/** What a policy of an operation did so far, or does now; `undefined` if nothing is counted for it. */
export function usageText(policy: string, state: OperationPolicyState): string | undefined {
  const { retry, cache, concurrency, rateLimit } = state
  switch (policy) {
    case "retry":
    case "hedge":
      return retry && budgetText(retry)
    case "cache":
      return cache && cacheText(cache)
    case "concurrency":
      return concurrency && concurrencyText(concurrency)
    case "rateLimit":
      return rateLimit && `${formatCount(rateLimit.refused, "call")} refused`
    default:
      return undefined
  }
}

function budgetText({ left, denied }: NonNullable<OperationPolicyState["retry"]>): string {
  const missed = denied === 0 ? "" : `, ${denied.toLocaleString("en")} not made for lack of them`
  return `${formatCount(left, "retry", "retries")} left for the source${missed}`
}

function cacheText(cache: NonNullable<OperationPolicyState["cache"]>): string {
  const { hits, stale, joined, misses, entries, bytes } = cache
  const counts = [
    formatCount(hits, "hit"),
    ...(stale > 0 ? [`${stale.toLocaleString("en")} stale`] : []),
    ...(joined > 0 ? [`${joined.toLocaleString("en")} shared`] : []),
    formatCount(misses, "miss", "misses"),
  ]
  return `${counts.join(", ")}; ${formatCount(entries, "result")}, ${formatBytes(bytes)}`
}

function concurrencyText({
  running,
  waiting,
  abandoned,
}: NonNullable<OperationPolicyState["concurrency"]>): string {
  const left = abandoned > 0 ? ` (${abandoned} abandoned)` : ""
  return `${running} running${left}, ${waiting} waiting`
}
