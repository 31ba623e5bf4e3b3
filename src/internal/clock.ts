/** Time, as the library sees it. Replace it to test with a clock of your own. */
export interface Clock {
  now(): number
  /** Calls back after some milliseconds; gives what `clearTimeout` takes. */
  setTimeout(callback: () => void, milliseconds: number): unknown
  clearTimeout(timer: unknown): void
}

/** The platform's clock. Functions are looked up per use, so that faked timers are seen. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, milliseconds) => globalThis.setTimeout(callback, milliseconds),
  clearTimeout: (timer) => globalThis.clearTimeout(timer as number),
}
