import { systemClock } from "./clock.ts"
import type { Clock } from "./platform.ts"

/** A clock for tests: its time changes only when you advance it. */
export interface ManualClock extends Clock {
  /**
   * Advances the time. Due timers run in order, and the effects of each complete before the next one runs.
   *
   * It does not wait for anything outside this clock, such as a server.
   */
  advance(milliseconds: number): Promise<void>
  /** Sets the date, as an administrator or a time server does: no time passes, and no deadline moves. */
  setWallTime(date: number): void
}

/** Creates a clock for tests, for the option `clock` of a registry, server or transport. It starts at `start`, 0. */
export function createManualClock(start = 0): ManualClock {
  const timers = new Map<number, { readonly at: number; readonly callback: () => void }>()
  let time = start
  let last = 0
  /** The difference between the date and `time`. */
  let ahead = 0
  const setTimeout = (callback: () => void, milliseconds: number): number => {
    timers.set(++last, { at: time + Math.max(milliseconds, 0), callback })
    return last
  }
  const nextBefore = (end: number): number | undefined => {
    let nextId: number | undefined
    let earliest = end
    for (const [id, { at }] of timers) {
      if (at > earliest || (at === earliest && nextId !== undefined)) continue
      nextId = id
      earliest = at
    }
    return nextId
  }
  return {
    now: () => time,
    wallTime: () => time + ahead,
    setWallTime(date) {
      ahead = date - time
    },
    setTimeout,
    clearTimeout: (timer) => void timers.delete(timer as number),
    async advance(milliseconds) {
      const end = time + milliseconds
      for (;;) {
        await turn()
        const id = nextBefore(end)
        const timer = id === undefined ? undefined : timers.get(id)
        if (id === undefined || timer === undefined) break
        timers.delete(id)
        time = Math.max(time, timer.at)
        timer.callback()
      }
      time = end
    },
  }
}

/** One turn of the event loop, in which pending promise callbacks run before time moves on. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.defer?.(resolve)
  })
}
