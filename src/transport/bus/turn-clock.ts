import type { Clock } from "../../internal/platform.ts"
import { deferOn, wallTimeOf } from "../../internal/clock.ts"

/**
 * A clock that runs all deferred callbacks of a turn in one go, in order.
 *
 * What they send then leaves together: between two callbacks of its own the platform does other things, and a
 * connection writes its buffer whenever it gets the chance.
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
      if (waiting.push(callback) === 1) deferOn(clock, run)
    },
  }
}
