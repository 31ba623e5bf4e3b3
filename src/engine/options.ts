import type { CallOptions } from "../core/types.ts"
import type { ValueError } from "../core/validation.ts"
import { JoinedSignals } from "../internal/signals.ts"
import { typeName } from "../internal/describe.ts"

/**
 * What is wrong with what a caller says about a call; `undefined` when nothing is.
 *
 * An identity is not judged here: a malformed one grants nothing, which access control sees to.
 */
export function optionsFault(options: CallOptions): ValueError | undefined {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    return { path: "", message: `must be an object, got ${typeName(options)}` }
  }
  const {
    deadline,
    timeout,
    signal,
    requestId,
    parentRequestId,
    metadata,
    progress,
    requestInput,
  } = options
  if (deadline !== undefined && (typeof deadline !== "number" || Number.isNaN(deadline))) {
    return wrong("/deadline", "a number of milliseconds since 1970", deadline)
  }
  if (timeout !== undefined && (typeof timeout !== "number" || Number.isNaN(timeout))) {
    return wrong("/timeout", "a number of milliseconds", timeout)
  }
  if (signal !== undefined && !isSignal(signal)) {
    return wrong("/signal", "an AbortSignal", signal)
  }
  if (requestId !== undefined && (typeof requestId !== "string" || requestId === "")) {
    return wrong("/requestId", "a non-empty string", requestId)
  }
  if (parentRequestId !== undefined && typeof parentRequestId !== "string") {
    return wrong("/parentRequestId", "a string", parentRequestId)
  }
  if (metadata !== undefined && (typeof metadata !== "object" || metadata === null)) {
    return wrong("/metadata", "an object", metadata)
  }
  if (progress !== undefined && typeof progress !== "function") {
    return wrong("/progress", "a function", progress)
  }
  if (requestInput !== undefined && typeof requestInput !== "function") {
    return wrong("/requestInput", "a function", requestInput)
  }
  return undefined
}

function isSignal(value: unknown): value is AbortSignal {
  return typeof (value as Partial<AbortSignal> | null)?.addEventListener === "function"
}

function wrong(path: string, expected: string, got: unknown): ValueError {
  return {
    path,
    message: `must be ${expected}, got ${typeName(got)}`,
  }
}

/** Options for a call, and the signals to release after it. */
interface RootOptions {
  readonly options: CallOptions | undefined
  readonly joined?: JoinedSignals | undefined
}

/** What a plain context says to each call made for it: who and until when, but not which request. */
export function rootOptions(
  context: CallOptions | undefined,
  options: CallOptions | undefined,
): RootOptions {
  if (typeof context !== "object" || context === null) return { options: options ?? context }
  const { identity, deadline, timeout, signal, metadata, log, requestId, requestInput } = context
  const own = options?.signal
  const joined =
    isSignal(signal) && isSignal(own) && signal !== own ? new JoinedSignals(signal, own) : undefined
  return {
    options: {
      identity,
      parentRequestId: requestId,
      deadline: earlier(deadline, options?.deadline),
      timeout: earlier(timeout, options?.timeout),
      // What is not a signal is refused with the other options.
      signal: joined?.signal ?? (isSignal(signal) ? (own ?? signal) : (signal ?? own)),
      metadata: options?.metadata ?? metadata,
      log,
      progress: options?.progress,
      requestInput: options?.requestInput ?? requestInput,
    },
    joined,
  }
}

function earlier(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? (left ?? right) : Math.min(left, right)
}
