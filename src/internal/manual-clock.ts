import { systemClock } from "./clock.ts"
import type { Clock } from "./platform.ts"

/** A clock for tests: its time stands still until it is advanced. */
export interface ManualClock extends Clock {
  /**
   * Lets time pass. Timers that come due run in their order, each with its consequences before the next.
   *
   * What waits for anything but this clock, such as a server, is not waited for.
   */
  advance(milliseconds: number): Promise<void>
  /** Sets the date, as an administrator or a time server does: no time passes, and no deadline moves. */
  setWallTime(date: number): void
}

/** Makes a clock for tests, as `clock` of a registry, a server or a transport; it starts at `start`, 0. */
export function createManualClock(start = 0): ManualClock {
  const timers = new Map<number, { readonly at: number; readonly callback: () => void }>()
  let time = start
  let last = 0
  /** The date is so much later than `time`. */
  let ahead = 0
  const setTimeout = (callback: () => void, milliseconds: number): number => {
    timers.set(++last, { at: time + Math.max(milliseconds, 0), callback })
    return last
  }
  const nextBefore = (end: number): number | undefined => {
    let found: number | undefined
    let earliest = end
    for (const [id, { at }] of timers) {
      if (at > earliest || (at === earliest && found !== undefined)) continue
      found = id
      earliest = at
    }
    return found
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

/** A turn of the event loop: what was decided has its consequences before time goes on. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.defer?.(resolve)
  })
}
