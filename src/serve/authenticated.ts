import type { Clock } from "../internal/platform.ts"
import type { Identity } from "../core/types.ts"
import { wallTimeOf } from "../internal/clock.ts"

/** Who was found, and for how long. */
export interface Authenticated extends Identity {
  /**
   * Epoch milliseconds from which on it holds no more: connections and streams end then.
   *
   * It stays here: handlers get the identity without it, and it is sent to nobody.
   */
  readonly expiresAt?: number | undefined
}

/** An identity as handlers see it, and when it ends. */
export interface Holder {
  readonly identity: Identity
  readonly expiresAt: number | undefined
}

/** Takes an identity and its end apart; gives why it cannot be taken, when it cannot. */
export function splitExpiry(authenticated: Authenticated, clock: Clock): Holder | string {
  const { expiresAt } = authenticated
  // Most have no end, and stay the object that they are.
  if (expiresAt === undefined) return { identity: authenticated, expiresAt }
  if (typeof expiresAt !== "number" || Number.isNaN(expiresAt)) {
    return "expiresAt of an identity must be a number of milliseconds since 1970"
  }
  if (expiresAt <= wallTimeOf(clock)) return "the credential has expired"
  const { expiresAt: _, ...identity } = authenticated
  return { identity, expiresAt }
}
