import type { HubStats } from "../api/model.ts"

/** An error code, how often, and its part of the most frequent one. */
export interface ErrorCount {
  readonly code: string
  readonly count: number
  readonly part: number
}

/** Errors by code, the most frequent first. */
export function errorCounts(errors: HubStats["errors"]): readonly ErrorCount[] {
  const counts = Object.entries(errors)
    .filter(([, count]) => count > 0)
    .toSorted(([a, first], [b, second]) => second - first || (a < b ? -1 : 1))
  const most = counts[0]?.[1] ?? 1
  return counts.map(([code, count]) => ({ code, count, part: count / most }))
}

/** Calls per second in words, for screen readers. */
export function describeHistory(history: readonly number[]): string {
  if (history.length === 0) return "Calls per second: no data yet."
  const highest = history.reduce((high, count) => Math.max(high, count))
  const total = history.reduce((sum, count) => sum + count, 0)
  return (
    `Calls per second in the last ${history.length} s: now ${history.at(-1) ?? 0}, ` +
    `highest ${highest}, ${total} in all.`
  )
}

/** A rate with an appropriate number of digits. */
export function formatRate(rate: number): string {
  if (!Number.isFinite(rate) || rate <= 0) return "0"
  if (rate < 0.1) return "< 0.1"
  return rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString("en")
}
