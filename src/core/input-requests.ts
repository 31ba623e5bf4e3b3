import { CallError } from "./errors.ts"
import type { OperationContext } from "./handler.ts"
import type { CallOptions } from "./types.ts"

/** The function that answers questions of a handler; `undefined` if its caller cannot be asked. */
export function answererOf(
  context: Pick<OperationContext, "requestInput"> & { answerer?: CallOptions["requestInput"] },
): CallOptions["requestInput"] {
  return "answerer" in context ? context.answerer : context.requestInput
}

/** The error for a question that the caller cannot answer, with the caller's reason if there is one. */
export function inputUnavailable(operationId: string, reason?: string): CallError {
  const what = `"${operationId}" asks its caller for input, and this caller `
  return new CallError(
    "UNAVAILABLE",
    reason === undefined
      ? `${what}cannot be asked. Call it with requestInput in the options, or from a client that can answer.`
      : `${what}could not answer: ${reason}`,
    { operationId, retryable: false, details: { reason: "INPUT_UNAVAILABLE" } },
  )
}
