import { systemClock, wallTimeOf } from "../internal/clock.ts"
// Longer than a timer can wait: it would fire at once.
const LONGEST = 2 ** 31 - 1

/** Milliseconds of a `Retry-After` header, which is a number of seconds or a date. */
export function retryAfterOf(
  value: string | undefined,
  now: number = wallTimeOf(systemClock),
): number | undefined {
  const text = value?.trim() ?? ""
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), LONGEST)
  // A date has letters; `Date.parse` would make one of almost any number too.
  const at = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - now), LONGEST)
}
