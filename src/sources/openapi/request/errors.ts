import { type CallError, ErrorCode, refusal } from "../../../core/errors.ts"

/** A value that cannot be sent; its message continues after the value's name. */
export class Unwritable extends Error {
  static {
    this.prototype.name = "Unwritable"
  }
}

/** The error for an invalid input. */
export function invalidInputError(id: string, issue: string): CallError {
  return refusal(ErrorCode.VALIDATION_ERROR, `Input for "${id}" is invalid: ${issue}.`, {
    operationId: id,
  })
}

/** The error for an unusable document or setting. */
export function unusableError(id: string, issue: string): CallError {
  return refusal(ErrorCode.VALIDATION_ERROR, `Operation "${id}" cannot be sent: ${issue}.`, {
    operationId: id,
  })
}

/** Runs `write`; adds the name of a field to the message of an `Unwritable` value. */
export function withFieldName<T>(name: string, write: () => T): T {
  try {
    return write()
  } catch (thrown) {
    if (thrown instanceof Unwritable) throw new Unwritable(`at /${name} ${thrown.message}`)
    throw thrown
  }
}

/** Runs `write`; reports an `Unwritable` value under the name `what`. */
export function withValueName<T>(id: string, what: string, write: () => T): T {
  try {
    return write()
  } catch (thrown) {
    if (thrown instanceof Unwritable) throw invalidInputError(id, `${what} ${thrown.message}`)
    throw thrown
  }
}
