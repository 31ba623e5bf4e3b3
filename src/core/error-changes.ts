// Copies of errors that say something else than the originals.

import {
  abandonedBy,
  isForwarded,
  isInternal,
  markAbandoned,
  markRoot,
  rootOf,
} from "./error-marks.ts"
import { isCallError, statesNoEffect, type CallError, type CallErrorOptions } from "./errors.ts"

/** The call that failed with an error. */
export interface LeavingCall {
  readonly operationId: string
  readonly requestId: string
  readonly root: { readonly requestId: string }
}

/**
 * Adds the ids of the failed call to an error, unless it has those of the nested call in which it happened.
 *
 * Returns the same object, except for errors that several calls may throw, such as a constant of a module: these are
 * copied for all calls but the first, or for all if they state something about the call that throws them.
 */
export function stampError(error: CallError, call: LeavingCall): CallError {
  const tree = rootOf(error)
  const root = call.root.requestId
  if (tree === undefined) {
    if (error.requestId !== undefined && error.operationId !== undefined) return error
    const isOwn = Object.isExtensible(error) && !statesNoEffect(error)
    return writeIds(isOwn ? error : copyOf(error), call, root, false)
  }
  if (tree === root || isInternal(error) || isForwarded(error)) return error
  return writeIds(copyOf(error), call, root, true)
}

/** The changed fields of an error. */
type ErrorChange = Omit<CallErrorOptions, "retryAfterMs"> & { readonly message?: string }

/**
 * The same error, seen from outside: a copy with some fields changed. Class, marks, stack and all other fields stay,
 * and an error that is not retryable does not become so.
 */
export function changedError(error: CallError, change: ErrorChange): CallError {
  return copyOf(error, { ...change, retryable: error.retryable && change.retryable !== false })
}

/** The error of a result that could not be sent: its handler has run. */
export function unsentResult(thrown: unknown): unknown {
  const change = { mayHaveExecuted: true, retryable: false }
  return isCallError(thrown) ? changedError(thrown, change) : thrown
}

/** The error of a lost connection, for an operation that can be repeated. What the other side answered stays as it is. */
export function repeatableLoss(error: CallError): CallError {
  return error.retryable || isForwarded(error) ? error : copyOf(error, { retryable: true })
}

/**
 * The error of a call whose handler has started, before it is stamped: unless it is the handler's own and states
 * otherwise, there may be effects.
 */
export function handlerError(
  error: CallError,
  call: LeavingCall & { readonly isIdempotent: boolean },
): CallError {
  const { requestId, operationId } = error
  const isOwn =
    requestId === undefined || (requestId === call.requestId && operationId === call.operationId)
  if (isOwn && statesNoEffect(error)) return error
  const changed = afterEffects(error, call.isIdempotent)
  // The handler of a nested call may still run, but this one has ended.
  return abandonedBy(changed) === undefined ? changed : markAbandoned(copyOf(changed), undefined)
}

/** The attempts of a call so far. */
interface Attempts {
  readonly started: number
  readonly hasEffects: boolean
}

/**
 * The error of a call that may have been tried before: it counts the attempts, and an earlier one that may have had
 * effects is not hidden by a later one that had none.
 */
export function afterAttempts(
  error: CallError,
  { started, hasEffects }: Attempts,
  isIdempotent: boolean,
): CallError {
  const counts = started > 1 && error.attempts === undefined
  const counted = counts ? changedError(error, { attempts: started }) : error
  return hasEffects && !error.mayHaveExecuted ? afterEffects(counted, isIdempotent) : counted
}

function afterEffects(error: CallError, isIdempotent: boolean): CallError {
  if (error.mayHaveExecuted && (isIdempotent || !error.retryable)) return error
  return changedError(error, { mayHaveExecuted: true, retryable: isIdempotent })
}

function writeIds(
  error: CallError,
  { operationId, requestId }: LeavingCall,
  root: string,
  isAnew: boolean,
): CallError {
  const ids = error as { operationId?: string; requestId?: string }
  try {
    if (isAnew || ids.operationId === undefined) ids.operationId = operationId
    if (isAnew || ids.requestId === undefined) ids.requestId = requestId
  } catch {
    // An error of another copy of this package may have other fields.
    return error
  }
  return markRoot(error, root)
}

/** The same class, fields and stack in a separate object, with some fields changed. */
function copyOf(error: CallError, change: ErrorChange = {}): CallError {
  const fields = Object.getOwnPropertyDescriptors(error)
  for (const field of Object.values(fields)) {
    field.configurable = true
    if ("value" in field) field.writable = true
  }
  const copy = Object.create(Object.getPrototypeOf(error) as object, fields) as CallError
  const { message = error.message } = change
  // Engines may keep the stack outside the object, so the copied property may be empty.
  const stack = error.stack?.replace(error.message, () => message)
  Object.defineProperty(copy, "stack", { value: stack, configurable: true, writable: true })
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined && name !== "cause") continue
    const enumerable = name !== "message" && name !== "cause"
    Object.defineProperty(copy, name, { value, enumerable, configurable: true, writable: true })
  }
  return copy
}
