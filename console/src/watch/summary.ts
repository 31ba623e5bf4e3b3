import { formatNumber } from "./scale.ts"

/** The summary of a series of numbers. */
export interface SeriesSummary {
  readonly count: number
  readonly latest: number
  readonly lowest: number
  readonly highest: number
  readonly mean: number
  readonly trend: "rising" | "falling" | "steady"
}

/** How much of the range two halves must differ by to be called a trend. */
const TREND = 0.1

/** Summarises a series; `undefined` if it has no numbers. */
export function summarise(values: readonly (number | undefined)[]): SeriesSummary | undefined {
  const numbers = values.filter((value) => value !== undefined)
  const latest = numbers.at(-1)
  if (latest === undefined) return undefined
  const lowest = numbers.reduce((low, value) => Math.min(low, value))
  const highest = numbers.reduce((high, value) => Math.max(high, value))
  const half = Math.floor(numbers.length / 2)
  const [before, after] = [meanOf(numbers.slice(0, half)), meanOf(numbers.slice(half))]
  const change = numbers.length < 4 ? 0 : (after - before) / (highest - lowest || 1)
  const trend = change > TREND ? "rising" : change < -TREND ? "falling" : "steady"
  return { count: numbers.length, latest, lowest, highest, mean: meanOf(numbers), trend }
}

/** A chart in words, for screen readers. */
export function describeSeries(label: string, summary: SeriesSummary | undefined): string {
  if (summary === undefined) return `${label}: no numbers yet.`
  const { count, latest, lowest, highest, mean, trend } = summary
  const values = count === 1 ? "1 value" : `${count} values, ${trend}`
  return (
    `${label}: ${values}. Latest ${formatNumber(latest)}, lowest ${formatNumber(lowest)}, ` +
    `highest ${formatNumber(highest)}, mean ${formatNumber(mean)}.`
  )
}

/** Divides before it adds: a sum of large numbers would be infinite. */
function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, value) => sum + value / numbers.length, 0)
}
