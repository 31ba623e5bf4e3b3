import type { CallError } from "./errors.ts"

// A registered symbol, so that marks set by another copy of this package are recognized too.
const OUTWARD = /* @__PURE__ */ Symbol.for("@alkdev/operations/CallError.outward")

/** The message and details of an error for callers outside the application. */
export interface OutwardError {
  readonly message: string
  readonly details?: unknown
}

/** Sets the message and details that callers outside the application see instead of the error's own. */
export function setOutward<TError extends CallError>(error: TError, outward: OutwardError): TError {
  return Object.defineProperty(error, OUTWARD, { value: outward, configurable: true })
}

/** The message and details for callers outside the application; `undefined` if they may see everything. */
export function outwardOf(error: CallError): OutwardError | undefined {
  return (error as { readonly [OUTWARD]?: OutwardError })[OUTWARD]
}
