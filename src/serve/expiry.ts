import { refusal, type CallError } from "../core/errors.ts"
import { setRef } from "../internal/defer.ts"
import type { Clock } from "../internal/platform.ts"
import { MAX_TIMER_DELAY, wallTimeOf } from "../internal/clock.ts"

/** Calls back at a time, however far away; never for `undefined`. Returns a function that cancels. */
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
      Math.min(Math.max(0, left), MAX_TIMER_DELAY),
    )
    setRef(timer, false)
  }
  wait()
  return () => clock.clearTimeout(timer)
}

/** Calls back when the credential of a caller expires or is taken away. Returns a function that cancels. */
export function whenEnded(
  credential: EndingCredential,
  clock: Clock,
  act: (error: CallError) => void,
): () => void {
  const stop = whenExpired(credential.expiresAt, clock, () => act(credentialEnded("has expired")))
  const forget = credential.onRevoked?.(() => act(credentialEnded("was revoked")))
  return () => {
    stop()
    forget?.()
  }
}

/** A credential that may end while something of its caller is open. */
export interface EndingCredential {
  readonly expiresAt?: number | undefined
  readonly onRevoked?: ((listener: () => void) => () => void) | undefined
}

/** The error for running calls and streams whose credential has ended. */
function credentialEnded(how: "has expired" | "was revoked"): CallError {
  const message = `The credential ${how}. Come back with a new one.`
  return refusal("UNAUTHENTICATED", message, { mayHaveExecuted: true })
}
