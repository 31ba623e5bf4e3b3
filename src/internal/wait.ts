import { MAX_TIMER_DELAY, systemClock } from "./clock.ts"
import { setRef } from "./defer.ts"
import type { Clock } from "./platform.ts"
import { addSignalListener, removeSignalListener } from "./signals.ts"

/** How to wait. */
export interface WaitOptions {
  readonly clock?: Clock | undefined
  /** Whether the timer keeps the process alive; by default it does. */
  readonly keepsAlive?: boolean
}

const LATE = Symbol("late")

/**
 * Waits for a promise, up to a timeout: then the result is that of `onLate`, which may also throw.
 *
 * Leaves no timer behind. A promise that rejects after the timeout is ignored.
 */
export async function withTimeout<TValue, TLate>(
  work: TValue | PromiseLike<TValue>,
  milliseconds: number,
  onLate: () => TLate,
  { clock = systemClock, keepsAlive = true }: WaitOptions = {},
): Promise<TValue | TLate> {
  let timer: unknown
  const late = new Promise<typeof LATE>((resolve) => {
    timer = clock.setTimeout(() => resolve(LATE), Math.min(milliseconds, MAX_TIMER_DELAY))
    if (!keepsAlive) setRef(timer, false)
  })
  try {
    const result = await Promise.race([work, late])
    return result === LATE ? onLate() : result
  } finally {
    clock.clearTimeout(timer)
  }
}

/** Waits for some milliseconds, or until the signal fires. Leaves no timer or listener behind. */
export async function pause(
  milliseconds: number,
  {
    clock = systemClock,
    keepsAlive = true,
    signal,
  }: WaitOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  if (signal?.aborted === true) return
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clock.clearTimeout(timer)
      if (signal !== undefined) removeSignalListener(signal, listener)
      resolve()
    }
    const listener = { handleEvent: end }
    const timer = clock.setTimeout(end, Math.min(milliseconds, MAX_TIMER_DELAY))
    if (!keepsAlive) setRef(timer, false)
    if (signal !== undefined) addSignalListener(signal, listener)
  })
}

/** A promise that is resolved from outside. */
export interface Deferred {
  readonly promise: Promise<void>
  readonly resolve: () => void
}

export function deferred(): Deferred {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
