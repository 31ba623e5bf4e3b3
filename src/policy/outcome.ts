import { isCallError, refusal, type CallError, type CallErrorOptions } from "../core/errors.ts"
import { isRefused, markRefused } from "../core/error-marks.ts"
import { afterAttempts } from "../core/error-changes.ts"
import { isRecord } from "../internal/guards.ts"

const FAILURES: ReadonlySet<string> = new Set([
  "UNAVAILABLE",
  "TIMEOUT",
  "WORKER_LOST",
  "OVERLOADED",
  "DATA_LOSS",
])

/** The error of a policy that does not let a call through: nothing was executed. */
export function refuse(code: string, message: string, options: CallErrorOptions): CallError {
  return markRefused(refusal(code, message, options))
}

/** The HTTP status in an error's details. */
export function statusOf({ details }: CallError): number | undefined {
  const status = isRecord(details) ? details["statusCode"] : undefined
  return typeof status === "number" ? status : undefined
}

/**
 * Whether an error says that the called system is in trouble. A mistake of the caller, an error that an operation
 * declares, and a refusal of a policy say nothing about it.
 */
export function isFailure(error: unknown): boolean {
  if (!isCallError(error) || isRefused(error)) return false
  if (FAILURES.has(error.code)) return !isCallersLack(error)
  if (error.code !== "EXECUTION_ERROR") return false
  const status = statusOf(error)
  return status === undefined || status >= 500 || status === 408
}

/** Whether the operation asked a caller that cannot be asked. */
function isCallersLack({ details }: CallError): boolean {
  return isRecord(details) && details["reason"] === "INPUT_UNAVAILABLE"
}

/** The attempts of one call so far. */
export interface Tally {
  attempts: number
  /** One of the failed attempts may have had an effect. */
  mayHaveExecuted: boolean
}

/** The error of a call with several attempts: a later one does not hide that an earlier one may have had an effect. */
export function withAttempts(thrown: unknown, tally: Tally, isIdempotent: boolean): unknown {
  if (!isCallError(thrown)) return thrown
  const attempts = { started: tally.attempts, hasEffects: tally.mayHaveExecuted }
  return afterAttempts(thrown, attempts, isIdempotent)
}
