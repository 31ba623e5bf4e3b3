import type { CallRequestedEvent } from "../../core/events.ts"
import type { NestedInOuter } from "../../core/outer-call.ts"
import type { PendingOptions } from "./options.ts"

/** Creates the event of a request, without fields that are not set. */
export function requestEvent(
  request: {
    readonly requestId: string
    readonly operationId: string
    readonly kind: "call" | "stream"
  },
  input: unknown,
  deadline: number | undefined,
  timeout: number | undefined,
  options: (PendingOptions & NestedInOuter) | undefined,
): CallRequestedEvent {
  const { requestId, operationId, kind } = request
  const type = "call.requested"
  // The common case, a timeout and nothing else, keeps one object shape.
  if (options === undefined && timeout !== undefined) {
    return { type, requestId, operationId, input, kind, timeout }
  }
  const event: { -readonly [TKey in keyof CallRequestedEvent]: CallRequestedEvent[TKey] } = {
    type,
    requestId,
    operationId,
    input,
    kind,
  }
  if (deadline !== undefined) event.deadline = deadline
  // JSON has no infinity; this is later than anyone waits.
  if (timeout !== undefined) event.timeout = Math.min(timeout, Number.MAX_SAFE_INTEGER)
  if (options === undefined) return event
  const { idleTimeout, identity, parentRequestId, metadata, traceparent, progress, version } =
    options
  if (idleTimeout !== undefined && idleTimeout !== Number.POSITIVE_INFINITY) {
    event.idleTimeout = idleTimeout
  }
  if (identity !== undefined) event.identity = identity
  if (parentRequestId !== undefined) event.parentRequestId = parentRequestId
  // Values that middleware provided have symbols as keys, and belong to one registry.
  if (metadata !== undefined) event.metadata = withoutSymbols(metadata)
  if (traceparent !== undefined) event.traceparent = traceparent
  if (progress !== undefined) event.progress = true
  if (options.requestInput !== undefined) event.canAnswer = true
  if (version !== undefined) event.version = version
  const { policy, idempotencyKey, outer } = options
  if (policy !== undefined) event.policy = policy
  if (idempotencyKey !== undefined) event.idempotencyKey = idempotencyKey
  if (outer !== undefined) {
    event.depth = outer.depth
    event.rootRequestId = outer.rootRequestId
  }
  return event
}

function withoutSymbols<TValue extends object>(value: TValue): TValue {
  const hasNone = Object.getOwnPropertySymbols(value).length === 0
  return hasNone ? value : (Object.fromEntries(Object.entries(value)) as TValue)
}
