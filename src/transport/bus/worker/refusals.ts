import { isCallError, refusal } from "../../../core/errors.ts"
import type { CallError } from "../../../core/errors.ts"
import type { CallEvent } from "../../../core/events.ts"

/** The error for a request at the address of another operation, which would bypass permissions. */
export function wrongAddress(operationId: string, addressed: string | undefined): CallError {
  const where = addressed === undefined ? "no operation" : `"${addressed}"`
  return refusal(
    "VALIDATION_ERROR",
    `"${operationId}" was not called: it was sent to the address of ${where}. Send it to its own.`,
    { operationId },
  )
}

/** The error for a request id that another caller uses. */
export function idTaken(operationId: string, requestId: string): CallError {
  return refusal(
    "VALIDATION_ERROR",
    `"${operationId}" was not called: request "${requestId}" belongs to another caller. Use a new id.`,
    { operationId, requestId },
  )
}

/** The error when nothing is served here, or no longer. */
export function notServing(operationId: string): CallError {
  return refusal(
    "UNAVAILABLE",
    `"${operationId}" was not called: this worker accepts no requests. Another one may.`,
    { operationId, retryable: true, mayHaveExecuted: false },
  )
}

/** The error when the caller imported another version than the one served here. */
export function wrongVersion(operationId: string, imported: string, version: string): CallError {
  return refusal(
    "UNAVAILABLE",
    `"${operationId}" was not called: this worker serves version ${version}, and the caller imported ${imported}. Another one may serve it.`,
    { operationId, details: { version }, retryable: true, mayHaveExecuted: false },
  )
}

/** The error after this process stalled for a time after which its callers may have given up. */
export function stoodStill(operationId: string, milliseconds: number): CallError {
  return refusal(
    "UNAVAILABLE",
    `"${operationId}" was not started: its worker stalled for ${milliseconds} ms.`,
    { operationId, retryable: true, mayHaveExecuted: false },
  )
}

/** The error when too many bytes wait for grants. */
export function tooMuchWaits(operationId: string, bytes: number): CallError {
  return refusal(
    "OVERLOADED",
    `"${operationId}" was not called: requests of ${bytes} bytes wait here already. Try again later.`,
    { operationId, retryAfterMs: 1000 },
  )
}

/** The error for an unidentified caller. It contains no reason, unless that is a `CallError`. */
export function notIdentified(operationId: string, thrown: unknown): CallError {
  if (isCallError(thrown)) return thrown
  return refusal("UNAUTHENTICATED", `"${operationId}" was not called: the caller is not known.`, {
    operationId,
    cause: thrown,
  })
}

/** The error for a ticket that was used before: a ticket is for one call. */
export function usedTicket(operationId: string): CallError {
  return refusal(
    "UNAUTHENTICATED",
    `"${operationId}" was not called: its ticket was used before.`,
    { operationId },
  )
}

/** The error for a broker that does not protect tickets: anyone may have sent this one. */
export function unsafeTicket(operationId: string, risk: string): CallError {
  return refusal(
    "UNAVAILABLE",
    `"${operationId}" was not called: this worker accepts no tickets for now. ${risk}`,
    { operationId, retryable: false },
  )
}

/** The error for a ticket at a worker without a verifier: the call must not run under another identity. */
export function noVerifier(operationId: string): CallError {
  return refusal(
    "UNAUTHENTICATED",
    `"${operationId}" was not called: it came with a ticket, and this worker has no "verifier" to check it. Give it one.`,
    { operationId },
  )
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
  return refusal(
    "PAYLOAD_TOO_LARGE",
    `${what} of "${operationId}" takes ${bytes} bytes as JSON, and the broker's limit is ${maxPayload} (maxPayload); ` +
      `${advice}, or raise the broker's limit.`,
    {
      requestId,
      operationId,
      details: { bytes, maxPayload },
      mayHaveExecuted: true,
      retryable: false,
    },
  )
}
