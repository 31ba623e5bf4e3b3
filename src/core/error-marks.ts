import type { CallError } from "./errors.ts"

// Registered symbols, so that marks set by another copy of this package are recognized too.
const INTERNAL = Symbol.for("@alkdev/operations/CallError.internal")
const FORWARDED = Symbol.for("@alkdev/operations/CallError.forwarded")
const TREE = Symbol.for("@alkdev/operations/CallError.tree")

interface Marked {
  readonly [INTERNAL]?: unknown
  readonly [FORWARDED]?: unknown
  readonly [TREE]?: unknown
}

/** Marks an error whose message was not written for callers, such as that of a database driver. */
export function markInternal<TError extends CallError>(error: TError): TError {
  return mark(error, INTERNAL, true)
}

/** Whether the message is only for the application. */
export function isInternal(error: CallError): boolean {
  return (error as Marked)[INTERNAL] === true
}

/** Marks an error of another registry, which has already reported it. */
export function markForwarded<TError extends CallError>(error: TError): TError {
  return mark(error, FORWARDED, true)
}

/** Whether the error happened in another registry. */
export function isForwarded(error: CallError): boolean {
  return (error as Marked)[FORWARDED] === true
}

/** The call that failed with an error. */
export interface LeavingCall {
  readonly operationId: string
  readonly requestId: string
  readonly root: { readonly requestId: string }
}

/**
 * Adds the ids of the failed call to an error, unless it has those of the nested call in which it happened.
 *
 * Returns the same object, with one exception: an error that several calls throw, such as a constant of a module,
 * is copied for all but the first.
 */
export function stampError(error: CallError, call: LeavingCall): CallError {
  const tree = (error as Marked)[TREE]
  const root = call.root.requestId
  if (tree === undefined) {
    if (error.requestId !== undefined && error.operationId !== undefined) return error
    return writeIds(Object.isExtensible(error) ? error : copyOf(error), call, root, false)
  }
  if (tree === root || isInternal(error) || isForwarded(error)) return error
  return writeIds(copyOf(error), call, root, true)
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
  const hides = hasEffects && !error.mayHaveExecuted
  if (!counts && !hides) return error
  const copy = copyOf(error) as { -readonly [TKey in keyof CallError]: CallError[TKey] }
  if (counts) copy.attempts = started
  copy.mayHaveExecuted ||= hasEffects
  copy.retryable &&= !hides || isIdempotent
  return copy
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
  return mark(error, TREE, root)
}

/** The same class, fields and stack in a separate object. */
function copyOf(error: CallError): CallError {
  const fields = Object.getOwnPropertyDescriptors(error)
  for (const field of Object.values(fields)) {
    field.configurable = true
    if ("value" in field) field.writable = true
  }
  const copy = Object.create(Object.getPrototypeOf(error) as object, fields) as CallError
  // Engines may keep the stack outside the object, so the copied property may be empty.
  Object.defineProperty(copy, "stack", { value: error.stack, configurable: true, writable: true })
  return copy
}

function mark<TError extends CallError>(error: TError, key: symbol, value: unknown): TError {
  try {
    Object.defineProperty(error, key, { value, configurable: true, writable: true })
  } catch {
    // Frozen: without the mark it counts as written for callers.
  }
  return error
}
