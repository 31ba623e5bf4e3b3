import { reasonOf } from "./describe.ts"

/** Marks a `CallError`. Registered globally, so that an error of another copy of this package is recognised too. */
export const CALL_ERROR: unique symbol = Symbol.for("@alkdev/operations/CallError")

/**
 * Runs a function that reads a value of the caller's.
 *
 * What the value's getters or Proxy traps throw becomes a `TypeError` that says which argument it
 * was. Errors of our own pass.
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
  try {
    const error = value as { readonly code?: unknown; readonly [CALL_ERROR]?: unknown }
    const { code: own } = error
    return error[CALL_ERROR] === true && typeof own === "string" && (code ?? own) === own
  } catch {
    return false
  }
}
