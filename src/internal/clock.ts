/** Time, as the library sees it. Replace it to test with a clock of your own. */
export interface Clock {
  now(): number
  /** Calls back after some milliseconds; gives what `clearTimeout` takes. */
  setTimeout(callback: () => void, milliseconds: number): unknown
  clearTimeout(timer: unknown): void
  /** Calls back as soon as what runs now is over; `setTimeout` with 0 when left out. */
  defer?(callback: () => void): void
}

/** The platform's clock. Functions are looked up per use, so that faked timers are seen. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, milliseconds) => globalThis.setTimeout(callback, milliseconds),
  clearTimeout: (timer) => globalThis.clearTimeout(timer as number),
  defer(callback) {
    const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => void }
    if (setImmediate === undefined) globalThis.setTimeout(callback, 0)
    else setImmediate(callback)
  },
}
