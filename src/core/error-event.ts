import type { CallErrorEvent } from "./events.ts"
import type { CallError } from "./errors.ts"
import { isInternal } from "./error-marks.ts"

/** The event for an error, with secrets masked. */
export function errorEvent(requestId: string, error: CallError): CallErrorEvent {
  const json = error.toJSON()
  const { code, message, details, retryable, mayHaveExecuted, retryAfterMs, attempts } = json
  return {
    type: "call.error",
    requestId,
    code,
    message,
    retryable,
    mayHaveExecuted,
    ...(details !== undefined && { details }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(attempts !== undefined && { attempts }),
    ...(isInternal(error) && { internal: true }),
  }
}
