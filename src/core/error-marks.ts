import { type CallError, isCallError } from "./errors.ts"
import type { CallErrorEvent } from "./events.ts"
import type { TraceFields } from "./tracing.ts"

// Registered symbols, so that marks set by another copy of this package are recognized too.
const INTERNAL = Symbol.for("@alkdev/operations/CallError.internal")
const FORWARDED = Symbol.for("@alkdev/operations/CallError.forwarded")
const REFUSED = Symbol.for("@alkdev/operations/CallError.refused")
const ABANDONED = Symbol.for("@alkdev/operations/CallError.abandoned")
const TREE = Symbol.for("@alkdev/operations/CallError.tree")
const OUTWARD = Symbol.for("@alkdev/operations/CallError.outward")
const SPAN = Symbol.for("@alkdev/operations/CallError.span")

interface Marked {
  readonly [INTERNAL]?: unknown
  readonly [FORWARDED]?: unknown
  readonly [REFUSED]?: unknown
  readonly [ABANDONED]?: Promise<unknown>
  readonly [TREE]?: unknown
  readonly [OUTWARD]?: OutwardError
  readonly [SPAN]?: TraceFields
}

/** The message and details of an error for callers outside the application. */
export interface OutwardError {
  readonly message: string
  readonly details?: unknown
}

/** Sets the message and details that callers outside the application see instead of the error's own. */
export function setOutward<TError extends CallError>(error: TError, outward: OutwardError): TError {
  return mark(error, OUTWARD, outward)
}

/** The message and details for callers outside the application; `undefined` if they may see everything. */
export function outwardOf(error: CallError): OutwardError | undefined {
  return (error as Marked)[OUTWARD]
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

/** Marks the refusal of a policy, here or in a nested call. */
export function markRefused<TError extends CallError>(error: TError): TError {
  return mark(error, REFUSED, true)
}

/** Whether a policy refused the call. */
export function isRefused(error: CallError): boolean {
  return (error as Marked)[REFUSED] === true
}

/** Marks the error of a call that ended while its handler runs. */
export function markAbandoned(error: CallError, handler: Promise<unknown> | undefined): CallError {
  return mark(error, ABANDONED, handler)
}

/** The handler that still runs behind the error of its call; `undefined` if there is none. */
export function abandonedBy(error: unknown): Promise<unknown> | undefined {
  return isCallError(error) ? (error as Marked)[ABANDONED] : undefined
}

/** The id of the outermost call in which an error happened; `undefined` if that is not known yet. */
export function rootOf(error: CallError): unknown {
  return (error as Marked)[TREE]
}

/** Sets the id of the outermost call in which an error happened. */
export function markRoot(error: CallError, root: string): CallError {
  return mark(error, TREE, root)
}

/** Sets the span of the outermost call that ended with an error so far, for the log line about it. */
export function markSpan(error: CallError, fields: TraceFields): CallError {
  return mark(error, SPAN, fields)
}

/** The fields by which the log line of an error names its span; `undefined` without one. */
export function spanOf(error: CallError): TraceFields | undefined {
  return (error as Marked)[SPAN]
}

/** The event for an error, with secrets masked. */
export function errorEvent(requestId: string, error: CallError): CallErrorEvent {
  const { operationId: _, ...json } = error.toJSON()
  return { ...json, type: "call.error", requestId, ...(isInternal(error) && { internal: true }) }
}

function mark<TError extends CallError>(error: TError, key: symbol, value: unknown): TError {
  try {
    Object.defineProperty(error, key, { value, configurable: true, writable: true })
  } catch {
    // Frozen: without the mark it counts as written for callers.
  }
  return error
}
