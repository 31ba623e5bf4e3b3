import type { Clock } from "../platform.ts"

/** The longest time that a timer of the platform can wait; a longer one would fire at once. */
const LONGEST = 2_147_483_647

/** The platform's clock. Functions are looked up per use, so that faked timers are seen. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, milliseconds) =>
    globalThis.setTimeout(callback, Math.min(milliseconds, LONGEST)),
  clearTimeout: (timer) => globalThis.clearTimeout(timer as number),
  defer(callback) {
    const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => void }
    if (setImmediate === undefined) globalThis.setTimeout(callback, 0)
    else setImmediate(callback)
  },
}
