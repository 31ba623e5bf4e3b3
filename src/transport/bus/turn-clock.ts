import type { Clock } from "../../internal/platform.ts"
import { wallTimeOf } from "../../internal/clock.ts"

/**
 * A clock on which everything that waits for the end of a turn is called back at once, in order.
 *
 * What is sent then leaves together: the platform does other things between two callbacks of its own, and a
 * connection writes what it has whenever it gets the chance.
 */
export function turnClock(clock: Clock): Clock {
  let waiting: (() => void)[] = []
  const run = (): void => {
    const callbacks = waiting
    waiting = []
    for (const callback of callbacks) callback()
  }
  return {
    now: () => clock.now(),
    wallTime: () => wallTimeOf(clock),
    setTimeout: (callback, milliseconds) => clock.setTimeout(callback, milliseconds),
    clearTimeout: (timer) => clock.clearTimeout(timer),
    defer(callback) {
      if (waiting.push(callback) > 1) return
      if (clock.defer === undefined) clock.setTimeout(run, 0)
      else clock.defer(run)
    },
  }
}
