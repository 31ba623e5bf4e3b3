import type { Clock } from "./platform.ts"

/** The longest time that a timer of the platform can wait; a longer one would fire at once. */
export const MAX_TIMER_DELAY = 2_147_483_647

/** Milliseconds by which the date may drift from elapsed time before it counts as set. */
const SET_THRESHOLD = 50

/** The date at the platform's time origin, before any change of the date. */
let origin = Date.now() - performance.now()
/** By how much the date was changed since, in whole milliseconds. */
let skew = 0

/**
 * The date without later changes of it, so that it equals the date to the millisecond if there were none.
 *
 * Both clocks are read twice before the date counts as set: something may have run between the two.
 */
function now(): number {
  const date = Date.now()
  const first = stepAt(date)
  if (first <= SET_THRESHOLD && first >= -SET_THRESHOLD) return date - skew
  const again = stepAt(Date.now())
  if (Math.abs(again - first) < SET_THRESHOLD) {
    origin += again
    skew += Math.round(again)
  }
  return Date.now() - skew
}

/** By how much the date was changed since the last read; rarely exactly 0, as the two clocks are read in turn. */
function stepAt(date: number): number {
  return date - performance.now() - origin
}

/** The platform's clock. Functions are looked up per use, so that faked timers are seen. */
export const systemClock: Clock = {
  now,
  wallTime: () => Date.now(),
  setTimeout: (callback, milliseconds) =>
    globalThis.setTimeout(callback, Math.min(milliseconds, MAX_TIMER_DELAY)),
  clearTimeout: (timer) => globalThis.clearTimeout(timer as number),
  defer(callback) {
    const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => void }
    if (setImmediate === undefined) globalThis.setTimeout(callback, 0)
    else setImmediate(callback)
  },
}

/** Calls back after the current task. */
export function deferOn(clock: Clock, callback: () => void): void {
  if (clock.defer === undefined) clock.setTimeout(callback, 0)
  else clock.defer(callback)
}

/** The date by a clock, in milliseconds since 1970. */
export function wallTimeOf(clock: Clock): number {
  return clock.wallTime === undefined ? clock.now() : clock.wallTime()
}

/** A date as a time of `clock.now()`. Convert it as soon as it arrives: later the date may have been set. */
export function fromWallTime(clock: Clock, date: number): number {
  return date - wallTimeOffset(clock)
}

/** A time of `clock.now()` as a date, for comparison with other dates. */
export function toWallTime(clock: Clock, time: number): number {
  return time + wallTimeOffset(clock)
}

/**
 * The difference between the date and `clock.now()`. Reads again if a millisecond ended between the two reads.
 */
function wallTimeOffset(clock: Clock): number {
  if (clock.wallTime === undefined) return 0
  let before = clock.now()
  for (let tries = 3; ; tries--) {
    const date = clock.wallTime()
    const after = clock.now()
    if (after === before || tries === 0) return date - after
    before = after
  }
}
