import type { CallEvent } from "../../core/events.ts"
import { refusal, type CallError, type ErrorCode } from "../../core/errors.ts"

const REFUSALS: Readonly<Record<number, ErrorCode>> = {
  401: "UNAUTHENTICATED",
  403: "ACCESS_DENIED",
  429: "RATE_LIMITED",
}

/** The error for an event that was never sent. `status` is the HTTP status of a refused connection. */
export function unavailable(
  peer: string,
  why: string,
  cause?: unknown,
  status?: number,
): CallError {
  const code = (status === undefined ? undefined : REFUSALS[status]) ?? "UNAVAILABLE"
  return refusal(code, `There is no connection to ${peer}: ${why}.`, {
    mayHaveExecuted: false,
    // A server that refuses for a reason will do so again.
    ...(status !== undefined && status < 500 && { retryable: false }),
    ...(cause === undefined ? {} : { cause }),
  })
}

/** The error for requests that were pending when a connection ended. */
export function lost(peer: string, closeCode: number, what: string, cause: unknown): CallError {
  const code = closeCode === 1013 ? "SLOW_CONSUMER" : "UNAVAILABLE"
  const terms = { details: { closeCode }, mayHaveExecuted: true, retryable: false }
  const message = `There is no connection to ${peer}: ${what}.`
  return refusal(code, message, cause === undefined ? terms : { ...terms, cause })
}

/** The error for an event when the queue is full while there is no connection. */
export function full(peer: string, heldSize: number, event: CallEvent): CallError {
  const message = `There is no connection to ${peer} yet, and ${heldSize} bytes wait for it. Try again later.`
  return refusal("OVERLOADED", message, { requestId: event.requestId, retryAfterMs: 1000 })
}
