import { refusal, type CallError } from "../../../core/errors.ts"
import type { CallEvent } from "../../../core/events.ts"
import { INVALID_REQUEST } from "../../../core/is-event.ts"
import { notCalled } from "../../../core/not-called.ts"

/** Another worker may run it. */
const ELSEWHERE = { retryable: true, mayHaveExecuted: false }

/** The error for a request that does not match the schema of events. It repeats nothing of it. */
export function invalidRequest(): CallError {
  return refusal("VALIDATION_ERROR", INVALID_REQUEST)
}

/** The error for a request at the address of another operation, which would bypass permissions. */
export function wrongAddress(operationId: string, addressed: string | undefined): CallError {
  const where = addressed === undefined ? "no operation" : `"${addressed}"`
  const why = `it was sent to the address of ${where}. Send it to its own.`
  return notCalled("VALIDATION_ERROR", operationId, why)
}

/** The error for a request id that another caller uses. */
export function idTaken(operationId: string, requestId: string): CallError {
  const why = `request "${requestId}" belongs to another caller. Use a new id.`
  return notCalled("VALIDATION_ERROR", operationId, why, { requestId })
}

/** The error when nothing is served here, or no longer. */
export function notServing(operationId: string): CallError {
  const why = "this worker accepts no requests. Another one may."
  return notCalled("UNAVAILABLE", operationId, why, ELSEWHERE)
}

/** The error when the caller imported another version than the one served here. */
export function wrongVersion(operationId: string, imported: string, version: string): CallError {
  const why = `this worker serves version ${version}, and the caller imported ${imported}. Another one may serve it.`
  return notCalled("UNAVAILABLE", operationId, why, { details: { version }, ...ELSEWHERE })
}

/** The error after this process stalled for a time after which its callers may have given up. */
export function stoodStill(operationId: string, milliseconds: number): CallError {
  const message = `"${operationId}" was not started: its worker stalled for ${milliseconds} ms.`
  return refusal("UNAVAILABLE", message, { operationId, ...ELSEWHERE })
}

/** The error for a ticket that was used before: a ticket is for one call. */
export function usedTicket(operationId: string): CallError {
  return notCalled("UNAUTHENTICATED", operationId, "its ticket was used before.")
}

/** The error for a broker that does not protect tickets: anyone may have sent this one. */
export function unsafeTicket(operationId: string, risk: string): CallError {
  const why = `this worker accepts no tickets for now. ${risk}`
  return notCalled("UNAVAILABLE", operationId, why, { retryable: false })
}

/** The error for a ticket at a worker without a verifier: the call must not run under another identity. */
export function noVerifier(operationId: string): CallError {
  const why = `it came with a ticket, and this worker has no "verifier" to check it. Give it one.`
  return notCalled("UNAUTHENTICATED", operationId, why)
}

/** The error for a result or a question that does not fit into a message. */
export function answerTooLarge(
  { type, requestId }: Pick<CallEvent, "type" | "requestId">,
  operationId: string,
  bytes: number,
  maxPayload: number,
): CallError {
  const [what, advice] =
    type === "call.asked"
      ? ["A question", "ask for less"]
      : ["The result", "return less, return a stream"]
  const message =
    `${what} of "${operationId}" takes ${bytes} bytes as JSON, and the broker's limit is ${maxPayload} (maxPayload); ` +
    `${advice}, or raise the broker's limit.`
  const terms = { details: { bytes, maxPayload }, mayHaveExecuted: true, retryable: false }
  return refusal("PAYLOAD_TOO_LARGE", message, { requestId, operationId, ...terms })
}
