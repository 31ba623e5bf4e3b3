import { isCallError } from "../../../core/errors.ts"
import type { CallError } from "../../../core/errors.ts"
import { memberOf } from "./framed-transport.ts"
import type { Exchange } from "./framed-transport.ts"

/** Why a request failed, and whether it was sent. */
export class RequestFailure extends Error {
  readonly thrown: unknown
  readonly error: CallError
  readonly isSent: boolean
  readonly retryAfterMs: number | undefined

  constructor(thrown: unknown, error: CallError, exchange: Exchange) {
    super(error.message)
    this.thrown = thrown
    this.error = error
    this.isSent = exchange.isSent
    this.retryAfterMs = exchange.retryAfterMs
  }
}

/** The `CallError` in an exception, also when the SDK has wrapped it. */
export function findCallError(thrown: unknown): CallError | undefined {
  let at = thrown
  for (let hops = 0; hops < 5 && typeof at === "object" && at !== null; hops++) {
    if (isCallError(at)) return at
    const { cause, data } = at as { readonly cause?: unknown; readonly data?: unknown }
    at = cause ?? memberOf(data, "cause")
  }
  return undefined
}

/** Whether the SDK could not parse a message. */
export function isUnreadableMessage(thrown: unknown): boolean {
  return thrown instanceof Error && /^\$?ZodError$|^SyntaxError$/.test(thrown.name)
}

/** An error like the SDK's for an invalid result. */
export function invalidMessageError(why = "the response is not a valid message"): Error {
  return Object.assign(new Error(why), { code: "INVALID_RESULT" })
}

/** An error like the SDK's for a closed connection. */
export function connectionClosedError(cause?: unknown, why = "Connection closed"): Error {
  return Object.assign(new Error(why, { cause }), { code: "CONNECTION_CLOSED" })
}

/** Converts an error to a JSON-RPC error. */
export function rpcError(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return Object.assign(new Error(message), { code: -32603 })
}
