import { isCallError } from "./errors.ts"
import { reasonOf } from "../internal/describe.ts"

/**
 * Runs something that reads a value of the caller's.
 *
 * What the value's getters or Proxy traps throw becomes a `TypeError` that says which argument it
 * was. Errors of our own pass.
 */
export function reading<TResult>(what: string, read: () => TResult): TResult {
  try {
    return read()
  } catch (thrown) {
    if (isCallError(thrown) || thrown instanceof TypeError) throw thrown
    throw new TypeError(`${what} cannot be read: ${reasonOf(thrown)}`, { cause: thrown })
  }
}
