import type { ResponseEnvelope } from "../core/envelope.ts"
import type { CallError } from "../core/errors.ts"
import { isThenable } from "../internal/guards.ts"
import type { Call } from "./call.ts"
import { CallContext } from "./context.ts"
import type { AnyHandler } from "./record.ts"

/** Calls the handler of a call. No other code does. */
export function runHandler(call: Call, input: unknown): unknown {
  return (call.record.handler as AnyHandler)(input, new CallContext(call))
}

/**
 * Runs the handler of a query or mutation. Returns its envelope, the error that it threw, or a promise of its result
 * if it is asynchronous. The kernel and the middleware decide when, and what becomes of the outcome.
 */
export function invoke(
  call: Call,
  input: unknown,
): ResponseEnvelope | CallError | Promise<unknown> {
  try {
    const result = runHandler(call, input)
    if (isThenable(result)) return result instanceof Promise ? result : Promise.resolve(result)
    return call.kernel.toEnvelope(call, result)
  } catch (thrown) {
    return call.toHandlerError(thrown)
  }
}
