import { isCallError, refusal, type CallError } from "../core/errors.ts"
import type { Identity } from "../core/types.ts"
import { wallTimeOf } from "../internal/clock.ts"
import { isObject, isThenable } from "../internal/guards.ts"
import { MissingPackage } from "../internal/import-peer.ts"
import type { Clock } from "../internal/platform.ts"
import { redactText } from "../internal/redact.ts"
import { withTimeout } from "../internal/wait.ts"
import { readCredential, type UpgradeRequestLike } from "./upgrade.ts"

/** An authenticated identity with an optional expiry. */
export interface Authenticated extends Identity {
  /**
   * Expiry in epoch milliseconds: connections and streams end then.
   *
   * Handlers get the identity without it, and it is never sent.
   */
  readonly expiresAt?: number | undefined
}

/** A caller that was authenticated, or may be anonymous: the identity that handlers see, and its expiry. */
export interface KnownCaller {
  readonly identity: Identity | undefined
  readonly expiresAt?: number | undefined
}

/**
 * Authenticates a request: returns an identity, `null` for an anonymous caller, or `undefined` to refuse.
 *
 * An identity with `expiresAt`, in epoch milliseconds, is valid until then: connections and streams end
 * with it. Throwing refuses as well. Clients receive only a 401, or a 429 or 503 for a
 * `CallError` with the code `RATE_LIMITED`, `UNAVAILABLE` or `OVERLOADED`.
 */
export type Authenticate = (
  request: UpgradeRequestLike,
) => Authenticated | null | undefined | Promise<Authenticated | null | undefined>

/** Result of authentication: the caller, or the reason for the log, without the credential. */
export type Verdict =
  | (KnownCaller & { readonly isKnown: true })
  | {
      readonly isKnown: false
      readonly reason: string
      /** The error for clients when the credential could not be checked, which is not the caller's mistake. */
      readonly outage?: CallError | undefined
    }

/** Codes of errors that are not about the credential. */
const OUTAGES: readonly string[] = ["RATE_LIMITED", "UNAVAILABLE", "OVERLOADED"]

/** A caller without an identity. */
export const ANONYMOUS: Verdict & KnownCaller = { isKnown: true, identity: undefined }

/**
 * Runs `authenticate`; synchronously when it answers synchronously. Without it every caller is anonymous. Never throws
 * or rejects.
 */
export function runAuthenticate(
  authenticate: Authenticate | undefined,
  request: UpgradeRequestLike,
  timeout: number = 10_000,
  clock: Clock,
): Verdict | Promise<Verdict> {
  if (authenticate === undefined) return ANONYMOUS
  try {
    const result = authenticate(request)
    if (!isThenable(result)) return toVerdict(result, clock)
    const onLate = (): never => {
      throw new Error(`authenticate took more than ${timeout} ms`)
    }
    return withTimeout(result, timeout, onLate, { clock, keepsAlive: false }).then(
      (settled) => toVerdict(settled, clock),
      (error: unknown) => failed(error, request),
    )
  } catch (error) {
    return failed(error, request)
  }
}

/** Converts a result of `authenticate` to a verdict. */
export function toVerdict(result: unknown, clock: Clock): Verdict {
  if (result === null) return ANONYMOUS
  if (result === undefined) return unknown("no identity was found")
  if (!isIdentity(result)) {
    return unknown("authenticate must return an identity { id, scopes }, null or undefined")
  }
  const { expiresAt } = result as Authenticated
  // Most identities do not expire, and stay the same object.
  if (expiresAt === undefined) return { isKnown: true, identity: result, expiresAt }
  if (typeof expiresAt !== "number" || Number.isNaN(expiresAt)) {
    return unknown("expiresAt of an identity must be a number of milliseconds since 1970")
  }
  if (expiresAt <= wallTimeOf(clock)) return unknown("the credential has expired")
  const { expiresAt: _, ...identity } = result as Authenticated
  return { isKnown: true, identity, expiresAt }
}

/** Whether a value is an identity. */
function isIdentity(value: unknown): value is Identity {
  if (!isObject(value)) return false
  const { id, scopes } = value as Partial<Identity>
  if (typeof id !== "string" || id === "" || !Array.isArray(scopes)) return false
  return scopes.every((scope) => typeof scope === "string")
}

function unknown(reason: string): Verdict {
  return { isKnown: false, reason }
}

function failed(error: unknown, request: UpgradeRequestLike): Verdict {
  let reason = "authenticate failed"
  try {
    reason = error instanceof Error ? error.message : String(error)
  } catch {
    // An error that cannot be converted to text keeps the default reason.
  }
  const { apiKey, bearer } = readCredential(request)
  const { authorization } = request.headers
  for (const secret of [apiKey, bearer, String(authorization ?? "")]) {
    if (secret !== undefined && secret !== "") reason = reason.replaceAll(secret, "***")
  }
  return { isKnown: false, reason: redactText(reason), outage: outageOf(error) }
}

function outageOf(error: unknown): CallError | undefined {
  if (!isCallError(error) || !OUTAGES.includes(error.code)) return undefined
  const { code, cause, retryAfterMs = 5000 } = error
  // Reported when the server was created; retrying does not help.
  if (cause instanceof MissingPackage) {
    return refusal(code, error.message, { cause, retryable: false })
  }
  const message = "Callers cannot be authenticated at the moment. Try again later."
  return refusal(code, message, { cause, retryAfterMs })
}
