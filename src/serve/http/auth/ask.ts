import { isThenable } from "../../../internal/guards.ts"
import { isCallError } from "../../../core/errors.ts"
import type { CallError } from "../../../core/errors.ts"
import { redactText } from "../../../internal/redact.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { Identity } from "../../../core/types.ts"
import { authenticatedInTime, isIdentity, splitExpiry } from "../../authenticated.ts"
import type { Authenticate } from "../../gate.ts"
import type { UpgradeRequestLike } from "../../upgrade.ts"
import { readCredential } from "./authenticator.ts"

/** Result of authentication: the caller, or the reason for the log, without the credential. */
export type Verdict =
  | {
      readonly isKnown: true
      readonly identity: Identity | undefined
      readonly expiresAt?: number | undefined
    }
  | {
      readonly isKnown: false
      readonly reason: string
      /** Authentication is unavailable, which is not the caller's mistake. */
      readonly outage?: CallError | undefined
    }

/** Runs `authenticate`; synchronously when it answers synchronously. Never throws or rejects. */
export function runAuthenticate(
  authenticate: Authenticate,
  request: UpgradeRequestLike,
  timeout: number,
  clock: Clock,
): Verdict | Promise<Verdict> {
  try {
    const result = authenticate(request)
    if (!isThenable(result)) return toVerdict(result, clock)
    return authenticatedInTime(result, timeout, clock).then(
      (settled) => toVerdict(settled, clock),
      (error: unknown) => failed(error, request),
    )
  } catch (error) {
    return failed(error, request)
  }
}

/** Converts a result of `authenticate` to a verdict. */
export function toVerdict(result: unknown, clock: Clock): Verdict {
  if (result === null) return { isKnown: true, identity: undefined }
  if (isIdentity(result)) {
    const holder = splitExpiry(result, clock)
    return typeof holder === "string"
      ? { isKnown: false, reason: holder }
      : { isKnown: true, identity: holder.identity, expiresAt: holder.expiresAt }
  }
  if (result === undefined) return { isKnown: false, reason: "no identity was found" }
  const reason = "authenticate must return an identity { id, scopes }, null or undefined"
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
  const outage = isCallError(error, "UNAVAILABLE") ? error : undefined
  return { isKnown: false, reason: redactText(reason), outage }
}
