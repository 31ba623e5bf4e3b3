import { isCallError } from "../core/errors.ts"
import type { MiddlewareFunction } from "../core/middleware.ts"
import type { Fallback, PolicyTarget } from "../core/resilience.ts"

/** Codes without a fallback: mistakes of the caller, and calls that were aborted. */
const NO_FALLBACK: ReadonlySet<string> = new Set([
  "VALIDATION_ERROR",
  "ACCESS_DENIED",
  "UNAUTHENTICATED",
  "OPERATION_NOT_FOUND",
  "ABORTED",
])

/** Returns the fallback when everything else has failed. */
export function withFallback(
  fallback: Fallback,
  toEnvelope: PolicyTarget["toEnvelope"],
  run: MiddlewareFunction,
): MiddlewareFunction {
  return async (call, next) => {
    try {
      return await run(call, next)
    } catch (thrown) {
      if (!isCallError(thrown) || NO_FALLBACK.has(thrown.code)) throw thrown
      const { data, meta } = toEnvelope(await fallback(thrown, call))
      return { data, meta: { ...meta, fallback: true } }
    }
  }
}
