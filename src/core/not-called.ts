import { isCallError, refusal, type CallError, type CallErrorOptions } from "./errors.ts"

/** The error of a call that did not begin. */
export function notCalled(
  code: string,
  operationId: string,
  why: string,
  options?: CallErrorOptions,
): CallError {
  return refusal(code, `"${operationId}" was not called: ${why}`, { operationId, ...options })
}

/** The error of a call for which there is no room now. */
export function overloaded(operationId: string, why: string): CallError {
  return notCalled("OVERLOADED", operationId, `${why}. Try again later.`, { retryAfterMs: 1000 })
}

/** The error of a call whose caller could not be identified. It contains no reason, unless that is a `CallError`. */
export function unauthenticated(operationId: string, thrown: unknown): CallError {
  if (isCallError(thrown)) return thrown
  return notCalled("UNAUTHENTICATED", operationId, "the caller is not known.", { cause: thrown })
}
