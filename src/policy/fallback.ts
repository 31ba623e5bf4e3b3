import { isCallError } from "../core/errors.ts"
import { isResponseEnvelope, localEnvelope } from "../core/envelope.ts"
import type { MiddlewareFunction } from "../core/middleware.ts"
import type { Fallback } from "../core/resilience.ts"

/** Codes without a fallback: mistakes of the caller, and calls that were aborted. */
const NO_FALLBACK: ReadonlySet<string> = new Set([
  "VALIDATION_ERROR",
  "ACCESS_DENIED",
  "UNAUTHENTICATED",
  "OPERATION_NOT_FOUND",
  "ABORTED",
])

/** Returns the fallback when everything else has failed. */
export function withFallback(fallback: Fallback, run: MiddlewareFunction): MiddlewareFunction {
  return async (call, next) => {
    try {
      return await run(call, next)
    } catch (thrown) {
      if (!isCallError(thrown) || NO_FALLBACK.has(thrown.code)) throw thrown
      const result = await fallback(thrown, call)
      const { data, meta } = isResponseEnvelope(result)
        ? result
        : localEnvelope(result, call.operationId)
      return { data, meta: { ...meta, fallback: true } }
    }
  }
}
