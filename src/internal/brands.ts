import { reasonOf } from "./message-text.ts"

/** The symbol of a `CallError`. Registered globally, so that errors of another copy of this package are recognized. */
export const CALL_ERROR: unique symbol = Symbol.for("@alkdev/operations/CallError")

/**
 * Runs a function that reads an argument.
 *
 * An error thrown by the argument's getters or Proxy traps becomes a `TypeError` that names the argument.
 * Errors of the library pass through.
 */
export function reading<TResult>(what: string, read: () => TResult): TResult {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof TypeError || hasBrand(thrown)) throw thrown
    throw new TypeError(`${what} cannot be read: ${reasonOf(thrown)}`, { cause: thrown })
  }
}

/** Whether a value is a `CallError`, also of another copy of this package. With `code`: of that code. */
export function hasBrand(value: unknown, code?: string): boolean {
  // Most calls end without an error, and reading a property of `undefined` would throw and be caught each time.
  if (value === undefined || value === null) return false
  try {
    const error = value as { readonly code?: unknown; readonly [CALL_ERROR]?: unknown }
    const { code: own } = error
    return error[CALL_ERROR] === true && typeof own === "string" && (code ?? own) === own
  } catch {
    return false
  }
}
