import type { Clock } from "../internal/platform.ts"
import type { Identity } from "../core/types.ts"
import { wallTimeOf } from "../internal/clock.ts"

/** An authenticated identity with an optional expiry. */
export interface Authenticated extends Identity {
  /**
   * Expiry in epoch milliseconds: connections and streams end then.
   *
   * Handlers get the identity without it, and it is never sent.
   */
  readonly expiresAt?: number | undefined
}

/** An identity as handlers see it, and its expiry. */
export interface Holder {
  readonly identity: Identity
  readonly expiresAt: number | undefined
}

/** Separates an identity from its expiry; returns the reason when the identity is not valid. */
export function splitExpiry(authenticated: Authenticated, clock: Clock): Holder | string {
  const { expiresAt } = authenticated
  // Most identities do not expire, and stay the same object.
  if (expiresAt === undefined) return { identity: authenticated, expiresAt }
  if (typeof expiresAt !== "number" || Number.isNaN(expiresAt)) {
    return "expiresAt of an identity must be a number of milliseconds since 1970"
  }
  if (expiresAt <= wallTimeOf(clock)) return "the credential has expired"
  const { expiresAt: _, ...identity } = authenticated
  return { identity, expiresAt }
}
