import { isCallError } from "../../../core/errors.ts"
import type { CallError } from "../../../core/errors.ts"
import { memberOf } from "./frames.ts"
import type { Exchange } from "./frames.ts"

/** Why one request failed, and what is known about the way it went. */
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

/** An error of ours, also when the package has wrapped it. */
export function callErrorIn(thrown: unknown): CallError | undefined {
  let at = thrown
  for (let hops = 0; hops < 5 && typeof at === "object" && at !== null; hops++) {
    if (isCallError(at)) return at
    const { cause, data } = at as { readonly cause?: unknown; readonly data?: unknown }
    at = cause ?? memberOf(data, "cause")
  }
  return undefined
}

/** Whether the package could not read what came. */
export function isGarbage(thrown: unknown): boolean {
  return thrown instanceof Error && /^\$?ZodError$|^SyntaxError$/.test(thrown.name)
}

/** Says what the package says of a result that is none. */
export function garbage(why = "what came is no message"): Error {
  return Object.assign(new Error(why), { code: "INVALID_RESULT" })
}

/** Says what the package says when a connection is closed. */
export function closed(cause?: unknown, why = "Connection closed"): Error {
  return Object.assign(new Error(why, { cause }), { code: "CONNECTION_CLOSED" })
}

/** An error as JSON-RPC has them. */
export function rpcError(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return Object.assign(new Error(message), { code: -32603 })
}
