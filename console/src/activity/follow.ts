import { backOff } from "../../../src/internal/back-off.ts"
import { asError } from "../app/as-error.ts"

/** The state of a connection that is reopened when it is lost. */
export type FollowState =
  | { readonly phase: "live" }
  | { readonly phase: "waiting"; readonly error: Error | undefined; readonly retryAt: number }
  /** A permanent failure, such as missing rights. */
  | { readonly phase: "refused"; readonly error: Error }

export interface FollowOptions {
  /** Opens it; settles when it is over. `onActive` is to be called when something came. */
  readonly open: (onActive: () => void) => Promise<void>
  readonly onState: (state: FollowState) => void
  /** Whether an error will stay. */
  readonly isFinal: (error: unknown) => boolean
  readonly now: () => number
  /** Settles after some milliseconds, or when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
}

/** A connection that lasted this long was stable, even if nothing arrived. */
const STABLE_AFTER_MS = 10_000

/** Keeps a connection open until the signal aborts, with longer and longer waits while it fails. */
export async function follow(options: FollowOptions): Promise<void> {
  const { onState, isFinal, now, wait, signal } = options
  let failures = 0
  while (!signal.aborted) {
    const openedAt = now()
    onState({ phase: "live" })
    const { wasActive, error } = await openOnce(options)
    if (signal.aborted) return
    if (error !== undefined && isFinal(error)) {
      onState({ phase: "refused", error })
      return
    }
    if (wasActive || now() - openedAt >= STABLE_AFTER_MS) failures = 0
    const delay = backOff(++failures, 1000, 30_000)
    onState({ phase: "waiting", error, retryAt: now() + delay })
    await wait(delay, signal)
  }
}

async function openOnce({
  open,
}: FollowOptions): Promise<{ readonly wasActive: boolean; readonly error: Error | undefined }> {
  let wasActive = false
  try {
    await open(() => {
      wasActive = true
    })
    return { wasActive, error: undefined }
  } catch (thrown) {
    return { wasActive, error: asError(thrown) }
  }
}
