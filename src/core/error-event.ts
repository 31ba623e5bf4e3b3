import type { CallErrorEvent } from "./events.ts"
import type { CallError } from "./errors.ts"
import { isInternal } from "./error-marks.ts"

/** The event for an error, with secrets masked. */
export function errorEvent(requestId: string, error: CallError): CallErrorEvent {
  const { operationId: _, ...json } = error.toJSON()
  return { ...json, type: "call.error", requestId, ...(isInternal(error) && { internal: true }) }
}
