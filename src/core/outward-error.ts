import type { CallError } from "./errors.ts"

// A registered symbol, so that marks set by another copy of this package are recognised too.
const OUTWARD = /* @__PURE__ */ Symbol.for("@alkdev/operations/CallError.outward")

/** The message and details of an error for callers outside the application. */
export interface OutwardError {
  readonly message: string
  readonly details?: unknown
}

/** Sets what callers outside the application may read of an error, if that is less than the error says. */
export function setOutward<TError extends CallError>(error: TError, outward: OutwardError): TError {
  return Object.defineProperty(error, OUTWARD, { value: outward, configurable: true })
}

/** What callers outside the application may read of an error; `undefined` if all of it. */
export function outwardOf(error: CallError): OutwardError | undefined {
  return (error as { readonly [OUTWARD]?: OutwardError })[OUTWARD]
}
