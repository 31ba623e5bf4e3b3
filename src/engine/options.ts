import { isIdempotencyKey } from "../core/call-policy.ts"
import { CALL_WAYS, type CallOptions, type CallPolicy } from "../core/types.ts"
import type { NestedInOuter } from "../core/outer-call.ts"
import type { CarriesTrace } from "../core/tracing.ts"
import type { ValueError } from "../core/validation.ts"
import { JoinedSignals } from "../internal/signals.ts"
import { typeName } from "../internal/message-text.ts"
import { findOptionIssue } from "../internal/option-issues.ts"
import type { OptionsSchema } from "../internal/options.ts"

/**
 * The first invalid option of a call; `undefined` if all are valid.
 *
 * The identity is not checked here: access control treats a malformed one as having no rights.
 */
export function optionsIssue(options: CallOptions): ValueError | undefined {
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
    policy,
    idempotencyKey,
    via,
    dryRun,
  } = options
  if (deadline !== undefined && !isNumber(deadline)) {
    return invalidOption("/deadline", "a number of milliseconds since 1970", deadline)
  }
  if (timeout !== undefined && !isNumber(timeout)) {
    return invalidOption("/timeout", "a number of milliseconds", timeout)
  }
  if (signal !== undefined && !isSignal(signal)) {
    return invalidOption("/signal", "an AbortSignal", signal)
  }
  if (requestId !== undefined && (typeof requestId !== "string" || requestId === "")) {
    return invalidOption("/requestId", "a non-empty string", requestId)
  }
  if (parentRequestId !== undefined && typeof parentRequestId !== "string") {
    return invalidOption("/parentRequestId", "a string", parentRequestId)
  }
  if (metadata !== undefined && (typeof metadata !== "object" || metadata === null)) {
    return invalidOption("/metadata", "an object", metadata)
  }
  if (progress !== undefined && typeof progress !== "function") {
    return invalidOption("/progress", "a function", progress)
  }
  if (requestInput !== undefined && typeof requestInput !== "function") {
    return invalidOption("/requestInput", "a function", requestInput)
  }
  if (idempotencyKey !== undefined && !isIdempotencyKey(idempotencyKey)) {
    return { path: "/idempotencyKey", message: "must be a string of 1 to 255 characters" }
  }
  if (dryRun !== undefined && typeof dryRun !== "boolean") {
    return invalidOption("/dryRun", "true or false", dryRun)
  }
  if (via !== undefined && !CALL_WAYS.includes(via)) {
    return { path: "/via", message: `must be one of ${CALL_WAYS.join(", ")}` }
  }
  return policy === undefined ? undefined : policyIssue(policy)
}

const CALL_POLICY: OptionsSchema<CallPolicy> = {
  retry: {
    either: [{ oneOf: [false] }, { members: { attempts: { required: { min: 1, whole: true } } } }],
  },
  cache: { oneOf: ["skip", "refresh"] },
  hedge: { oneOf: [false] },
}

function policyIssue(policy: unknown): ValueError | undefined {
  const issue = findOptionIssue(policy, { members: CALL_POLICY })
  return issue && { path: `/policy${issue.path}`, message: issue.message }
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" && !Number.isNaN(value)
}

function isSignal(value: unknown): value is AbortSignal {
  return typeof (value as Partial<AbortSignal> | null)?.addEventListener === "function"
}

function invalidOption(path: string, expected: string, got: unknown): ValueError {
  return {
    path,
    message: `must be ${expected}, got ${typeName(got)}`,
  }
}

/** Options for a call, and the signals to release after it. */
interface RootOptions {
  readonly options: (CallOptions & NestedInOuter & CarriesTrace) | undefined
  readonly joined?: JoinedSignals | undefined
}

/** The options for each call of a plain context: its identity and deadline, but not its request id. */
export function rootOptions(
  context: CallOptions | undefined,
  options: CallOptions | undefined,
): RootOptions {
  if (typeof context !== "object" || context === null) return { options: options ?? context }
  const { identity, deadline, timeout, signal, metadata, log, requestId, requestInput } = context
  const { outer, tracing } = context as NestedInOuter & CarriesTrace
  const own = options?.signal
  const joined =
    isSignal(signal) && isSignal(own) && signal !== own ? new JoinedSignals(signal, own) : undefined
  return {
    options: {
      identity,
      parentRequestId: requestId,
      outer,
      tracing,
      deadline: earlier(deadline, options?.deadline),
      timeout: earlier(timeout, options?.timeout),
      // An invalid signal is rejected later with the other options.
      signal: joined?.signal ?? (isSignal(signal) ? (own ?? signal) : (signal ?? own)),
      metadata: options?.metadata ?? metadata,
      log,
      progress: options?.progress,
      requestInput: options?.requestInput ?? requestInput,
      policy: options?.policy ?? context.policy,
      idempotencyKey: options?.idempotencyKey,
      via: options?.via ?? context.via,
      dryRun: options?.dryRun ?? context.dryRun,
    },
    joined,
  }
}

function earlier(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? (left ?? right) : Math.min(left, right)
}
