import { refusal } from "../core/errors.ts"
import type { CallError } from "../core/errors.ts"
import { setRef } from "../internal/defer.ts"
import type { Clock } from "../internal/platform.ts"
import { wallTimeOf } from "../internal/clock.ts"

// The longest delay that timers take; a longer one would fire at once.
const MAX_DELAY = 2_147_483_647

/** Calls back once a time has come, however far it is; never for none. Gives what ends the wait. */
export function whenExpired(
  expiresAt: number | undefined,
  clock: Clock,
  act: () => void,
): () => void {
  if (expiresAt === undefined || expiresAt === Number.POSITIVE_INFINITY) return () => {}
  let timer: unknown
  const wait = (): void => {
    const left = expiresAt - wallTimeOf(clock)
    timer = clock.setTimeout(
      () => (expiresAt > wallTimeOf(clock) ? wait() : act()),
      Math.min(Math.max(0, left), MAX_DELAY),
    )
    setRef(timer, false)
  }
  wait()
  return () => clock.clearTimeout(timer)
}

/** What ends with a credential is told so. */
export function expired(): CallError {
  return refusal("UNAUTHENTICATED", "The credential has expired. Come back with a new one.")
}
