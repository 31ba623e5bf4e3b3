import type { Clock } from "../platform.ts"

/** The longest time that a timer of the platform can wait; a longer one would fire at once. */
const LONGEST = 2_147_483_647

// Time begins with the date at which this module was loaded, so that 0 is long ago.
const ORIGIN = Math.floor(Date.now() - performance.now())

/** The platform's clock. Functions are looked up per use, so that faked timers are seen. */
export const systemClock: Clock = {
  // The date may be set while something waits; this cannot.
  now: () => ORIGIN + Math.floor(performance.now()),
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
  return clock.wallTime === undefined ? date : date - clock.wallTime() + clock.now()
}

/** A time of `clock.now()` as a date, for whoever compares it with other dates. */
export function toWallTime(clock: Clock, time: number): number {
  return clock.wallTime === undefined ? time : time - clock.now() + clock.wallTime()
}
