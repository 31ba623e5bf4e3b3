import { MAX_TIMER_DELAY, systemClock, wallTimeOf } from "../internal/clock.ts"

/** Converts a `Retry-After` header, which is a number of seconds or a date, to milliseconds. */
export function retryAfterOf(
  value: string | undefined,
  now: number = wallTimeOf(systemClock),
): number | undefined {
  const text = value?.trim() ?? ""
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MAX_TIMER_DELAY)
  // Require letters: `Date.parse` also accepts almost any number.
  const at = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - now), MAX_TIMER_DELAY)
}
