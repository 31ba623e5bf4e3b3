import type { Clock } from "./platform.ts"

/** The longest time that a timer of the platform can wait; a longer one would fire at once. */
const LONGEST = 2_147_483_647

/** Milliseconds by which the date may run away from the time that has passed before it counts as set. */
const SET = 50

/** The date minus the time that has passed since the platform's origin, as it was when nothing was set. */
let origin = Date.now() - performance.now()
/** By how much the date was set since, in whole milliseconds. */
let skew = 0

/** By how much the date was set since it was last looked at; about 0, as two clocks are never read at once. */
function step(): number {
  return Date.now() - performance.now() - origin
}

/**
 * The date as it would be if nobody had set it, so that it agrees with the date to the millisecond where nobody has.
 *
 * Both clocks are read twice before the date counts as set: something may have run between the two.
 */
function now(): number {
  const first = step()
  if (first > SET || first < -SET) {
    const again = step()
    if (Math.abs(again - first) < SET) {
      origin += again
      skew += Math.round(again)
    }
  }
  return Date.now() - skew
}

/** The platform's clock. Functions are looked up per use, so that faked timers are seen. */
export const systemClock: Clock = {
  now,
  wallTime: () => Date.now(),
  setTimeout: (callback, milliseconds) =>
    globalThis.setTimeout(callback, Math.min(milliseconds, LONGEST)),
  clearTimeout: (timer) => globalThis.clearTimeout(timer as number),
  defer(callback) {
    const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => void }
    if (setImmediate === undefined) globalThis.setTimeout(callback, 0)
    else setImmediate(callback)
  },
}

/** The date by a clock, in milliseconds since 1970. */
export function wallTimeOf(clock: Clock): number {
  return clock.wallTime === undefined ? clock.now() : clock.wallTime()
}

/** A date as a time of `clock.now()`. Convert it as soon as it arrives: later the date may have been set. */
export function fromWallTime(clock: Clock, date: number): number {
  return date - ahead(clock)
}

/** A time of `clock.now()` as a date, for whoever compares it with other dates. */
export function toWallTime(clock: Clock, time: number): number {
  return time + ahead(clock)
}

/** By how much the date is later than `clock.now()`; not read where a millisecond ends between the two. */
function ahead(clock: Clock): number {
  if (clock.wallTime === undefined) return 0
  let before = clock.now()
  for (let tries = 3; ; tries--) {
    const date = clock.wallTime()
    const after = clock.now()
    if (after === before || tries === 0) return date - after
    before = after
  }
}
