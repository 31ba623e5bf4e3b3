import type { Clock } from "../internal/platform.ts"
import type { Identity } from "../core/types.ts"
import { wallTimeOf } from "../internal/clock.ts"
import { withTimeout } from "../internal/wait.ts"
import { isObject } from "../internal/guards.ts"

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

/** Whether a value is an identity. */
export function isIdentity(value: unknown): value is Identity {
  if (!isObject(value)) return false
  const { id, scopes } = value as Partial<Identity>
  if (typeof id !== "string" || id === "" || !Array.isArray(scopes)) return false
  return scopes.every((scope) => typeof scope === "string")
}

/** Waits for what `authenticate` returned; rejects after the timeout. */
export function authenticatedInTime<TResult>(
  result: TResult | PromiseLike<TResult>,
  timeout: number,
  clock: Clock,
): Promise<TResult> {
  const onLate = (): never => {
    throw new Error(`authenticate took more than ${timeout} ms`)
  }
  return withTimeout(result, timeout, onLate, { clock, keepsAlive: false })
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
