import type { Flat } from "../flatten.ts"

/** A number within the bounds of a schema: 1 where that is one of them. */
export function sampleNumber(flat: Flat, isInteger: boolean): number {
  const all = (keyword: string): readonly number[] =>
    flat.layers.flatMap(({ schema }) => {
      const bound = schema[keyword]
      return typeof bound === "number" ? [bound] : []
    })
  const [step = isInteger ? 1 : 0] = all("multipleOf").filter((one) => one > 0)
  const least = Math.max(Number.NEGATIVE_INFINITY, ...all("minimum"))
  const above = Math.max(Number.NEGATIVE_INFINITY, ...all("exclusiveMinimum"))
  const most = Math.min(Number.POSITIVE_INFINITY, ...all("maximum"))
  const below = Math.min(Number.POSITIVE_INFINITY, ...all("exclusiveMaximum"))
  const isFine = (value: number): boolean =>
    value >= least && value > above && value <= most && value < below && isMultiple(value, step)
  const from = Math.max(least, above)
  const to = Math.min(most, below)
  const candidates = [1, 0, from, to, from + 1, to - 1, (from + to) / 2]
  const stepped = step > 0 ? [upTo(from, step), upTo(from, step) + step, step] : []
  const sample = [...candidates, ...stepped].find((one) => Number.isFinite(one) && isFine(one))
  return sample ?? 1
}

function upTo(value: number, step: number): number {
  return Math.ceil(value / step) * step
}

function isMultiple(value: number, step: number): boolean {
  return step === 0 || Math.abs(value / step - Math.round(value / step)) < 1e-9
}
