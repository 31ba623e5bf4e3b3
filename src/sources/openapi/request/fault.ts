import { type CallError, ErrorCode, refusal } from "../../../core/errors.ts"

/** A value that a request cannot hold; its message goes on from the value's name. */
export class Unwritable extends Error {
  static {
    this.prototype.name = "Unwritable"
  }
}

/** The error of an input that cannot become a request. */
export function invalidInput(id: string, fault: string): CallError {
  return refusal(ErrorCode.VALIDATION_ERROR, `Input for "${id}" is invalid: ${fault}.`, {
    operationId: id,
  })
}

/** The error of a document or a setting from which no request can be made. */
export function unusable(id: string, fault: string): CallError {
  return refusal(ErrorCode.VALIDATION_ERROR, `Operation "${id}" cannot be sent: ${fault}.`, {
    operationId: id,
  })
}

/** Runs `write`; what turns out to be unwritable is reported under the name `what`. */
export function naming<T>(id: string, what: string, write: () => T): T {
  try {
    return write()
  } catch (thrown) {
    if (thrown instanceof Unwritable) throw invalidInput(id, `${what} ${thrown.message}`)
    throw thrown
  }
}
