import { allows } from "../core/access.ts"
import { isCallError, refusal, type CallError } from "../core/errors.ts"
import { cutText, reasonOf, typeName } from "../internal/message-text.ts"
import type { CallOptions, Identity } from "../core/types.ts"
import type { ValueError } from "../core/validation.ts"
import { mintRequestId } from "./ids.ts"
import type { OperationRecord } from "./record.ts"
import type { RecordStore } from "./store.ts"

/** The error for an unknown operation, or one without a handler. Suggests only ids that the caller may know. */
export function notFound(
  store: RecordStore,
  id: unknown,
  identity: Identity | undefined,
): CallError {
  if (typeof id !== "string") {
    return refusal(
      "OPERATION_NOT_FOUND",
      `An operation's id must be a string such as "task.create", got ${typeName(id)}.`,
    )
  }
  if (store.get(id) !== undefined) {
    const displayedId = cutText(id, 200)
    return refusal(
      "OPERATION_NOT_FOUND",
      `Operation "${id}" has no handler. Add one: registry.registerHandler("${id}", handler).`,
      { details: { operationId: displayedId }, operationId: displayedId },
    )
  }
  return notRegistered(store, id, identity)
}

/** The error for an unknown operation. Remote callers get it for internal operations, too. */
export function notRegistered(
  store: RecordStore | undefined,
  id: string,
  identity: Identity | undefined,
): CallError {
  const displayedId = cutText(id, 200)
  const meant = store?.suggest(
    id,
    ({ spec, requirement }) =>
      spec.visibility !== "internal" && allows(requirement, identity, undefined),
  )
  const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`
  return refusal("OPERATION_NOT_FOUND", `Operation "${displayedId}" is not registered.${hint}`, {
    details: { operationId: displayedId },
    operationId: displayedId,
  })
}

/** The error for executing a subscription, or subscribing to another operation. */
export function wrongKind(record: OperationRecord, used: string, right: string): CallError {
  return refusal(
    "INVALID_OPERATION_TYPE",
    `"${record.id}" is a ${record.spec.type}: call it with ${right}(), not ${used}().`,
    { operationId: record.id, details: { operationId: record.id, type: record.spec.type } },
  )
}

/** A dry run is a call, also of a subscription. */
export function notDry(record: OperationRecord): CallError {
  return refusal(
    "INVALID_OPERATION_TYPE",
    `A dry run is a call: use execute("${record.id}", input, { dryRun: true }).`,
    { operationId: record.id, details: { operationId: record.id, type: record.spec.type } },
  )
}

export function tooDeep(id: string, why: string): CallError {
  return refusal("CALL_DEPTH_EXCEEDED", `"${id}" was not called: ${why}. Is it calling itself?`, {
    operationId: id,
  })
}

export function closed(id: string): CallError {
  return refusal("UNAVAILABLE", `"${id}" was not called: the registry is closed.`, {
    operationId: id,
    retryable: false,
  })
}

export function badOptions(record: OperationRecord, issue: ValueError): CallError {
  const text = `${issue.path.slice(1)} ${issue.message}`.trim()
  return refusal("VALIDATION_ERROR", `The context for "${record.id}" is invalid: ${text}.`, {
    operationId: record.id,
    details: { errors: [issue] },
  })
}

/** Why a call ended before its handler did. */
export type EndReason = "TIMEOUT" | "ABORTED"

/** The error of a call that ended early; `started` means that its handler had been called. */
export function endedEarly(
  call: {
    readonly record: OperationRecord
    readonly isIdempotent: boolean
    readonly requestId: string
    readonly timeoutDetails: object
    readonly attemptLog: { readonly started: number } | undefined
  },
  reason: EndReason,
  message: string,
  started: boolean,
  cause: unknown,
): CallError {
  const { record, isIdempotent, requestId, timeoutDetails, attemptLog } = call
  return refusal(reason, message, {
    operationId: record.id,
    requestId,
    mayHaveExecuted: started,
    retryable: reason === "TIMEOUT" && (!started || isIdempotent),
    ...(reason === "TIMEOUT" && { details: timeoutDetails }),
    ...(attemptLog !== undefined && attemptLog.started > 1 && { attempts: attemptLog.started }),
    ...(cause !== undefined && { cause }),
  })
}

/**
 * The error of a rejected call, with its ids; `call` is `undefined` if the operation does not exist.
 *
 * Errors before the handler runs are the library's own, unless the caller's objects throw when they are read.
 */
export function asRefusal(
  thrown: unknown,
  call?: { readonly operationId: string; readonly requestId: string },
  options?: CallOptions,
): CallError {
  const error = isCallError(thrown) ? thrown : unreadable(thrown)
  if (error.requestId !== undefined && error.operationId !== undefined) return error
  const ids = error as { operationId?: string; requestId?: string }
  try {
    if (call !== undefined) ids.operationId ??= call.operationId
    ids.requestId ??= requestIdOf(call ?? options)
  } catch {
    // An error of another copy of this package may have other fields.
  }
  return error
}

function unreadable(thrown: unknown): CallError {
  const reason = reasonOf(thrown).replace(/\.$/, "")
  return refusal("VALIDATION_ERROR", `The arguments of the call cannot be read: ${reason}.`, {
    cause: thrown,
  })
}

/** The request id of a call whose options may be the invalid part. */
function requestIdOf(call: { readonly requestId?: string | undefined } | undefined): string {
  try {
    const requestId: unknown = call?.requestId
    if (typeof requestId === "string") return requestId
  } catch {
    // A getter threw.
  }
  return mintRequestId()
}
