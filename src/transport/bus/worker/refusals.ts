import { isCallError, refusal } from "../../../core/errors.ts"
import type { CallError } from "../../../core/errors.ts"

/** A request came by the address of another operation: permission for one would do for all. */
export function wrongAddress(operationId: string, addressed: string | undefined): CallError {
  const where = addressed === undefined ? "no operation" : `"${addressed}"`
  return refusal(
    "VALIDATION_ERROR",
    `"${operationId}" was not called: it was sent to the address of ${where}. Send it to its own.`,
    { operationId },
  )
}

/** Somebody else has a request of this id. */
export function idTaken(operationId: string, requestId: string): CallError {
  return refusal(
    "VALIDATION_ERROR",
    `"${operationId}" was not called: request "${requestId}" is another caller's. Use a new id.`,
    { operationId, requestId },
  )
}

/** Nothing is served here, or no longer. */
export function notServing(operationId: string): CallError {
  return refusal(
    "UNAVAILABLE",
    `"${operationId}" was not called: this worker takes no requests. Another one may.`,
    { operationId, retryable: true, mayHaveExecuted: false },
  )
}

/** The version that the caller imported is not the one that is served here. */
export function wrongVersion(operationId: string, imported: string, version: string): CallError {
  return refusal(
    "UNAVAILABLE",
    `"${operationId}" was not called: this worker serves version ${version}, and the caller imported ${imported}. Another one may serve it.`,
    { operationId, details: { version }, retryable: true, mayHaveExecuted: false },
  )
}

/** This process stood still for so long that its callers may have gone elsewhere. */
export function stoodStill(operationId: string, milliseconds: number): CallError {
  return refusal(
    "UNAVAILABLE",
    `"${operationId}" was not begun: its worker stood still for ${milliseconds} ms.`,
    { operationId, retryable: true, mayHaveExecuted: false },
  )
}

/** Too much waits for grants that do not come. */
export function tooMuchWaits(operationId: string, bytes: number): CallError {
  return refusal(
    "OVERLOADED",
    `"${operationId}" was not called: requests of ${bytes} bytes wait here already. Try again later.`,
    { operationId, retryAfterMs: 1000 },
  )
}

/** Who calls could not be found out. Says nothing of the reason unless that was meant to be said. */
export function notIdentified(operationId: string, thrown: unknown): CallError {
  if (isCallError(thrown)) return thrown
  return refusal("UNAUTHENTICATED", `"${operationId}" was not called: the caller is not known.`, {
    operationId,
    cause: thrown,
  })
}

/** A ticket is for one call: whoever shows it again got hold of it. */
export function usedTicket(operationId: string): CallError {
  return refusal(
    "UNAUTHENTICATED",
    `"${operationId}" was not called: its ticket was used before.`,
    { operationId },
  )
}

/** The broker does not protect tickets: anyone may have sent this one. */
export function unsafeTicket(operationId: string, risk: string): CallError {
  return refusal(
    "UNAVAILABLE",
    `"${operationId}" was not called: this worker accepts no tickets for now. ${risk}`,
    { operationId, retryable: false },
  )
}

/** A ticket came to a worker that reads none: falling back to somebody else would be worse. */
export function noVerifier(operationId: string): CallError {
  return refusal(
    "UNAUTHENTICATED",
    `"${operationId}" was not called: it came with a ticket, and this worker reads none. Give it a "verifier".`,
    { operationId },
  )
}

/** An answer does not fit into a message of the bus. */
export function answerTooLarge(
  requestId: string,
  operationId: string,
  bytes: number,
  maxPayload: number,
): CallError {
  return refusal(
    "PAYLOAD_TOO_LARGE",
    `What "${operationId}" answers takes ${bytes} bytes as JSON, and the broker's limit is ${maxPayload} (maxPayload); ` +
      "answer with less or with a stream, or raise the broker's limit.",
    {
      requestId,
      operationId,
      details: { bytes, maxPayload },
      mayHaveExecuted: true,
      retryable: false,
    },
  )
}
