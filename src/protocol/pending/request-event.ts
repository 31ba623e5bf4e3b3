import type { CallRequestedEvent } from "../../core/events.ts"
import type { NestedInOuter } from "../../core/outer-call.ts"
import { traceIn } from "../../core/tracing.ts"
import type { CallOptions } from "../../core/types.ts"
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
  if (metadata !== undefined) {
    // Values that middleware provided have symbols as keys, and stay in their registry.
    const isPlain = Object.getOwnPropertySymbols(metadata).length === 0
    event.metadata = isPlain ? metadata : Object.fromEntries(Object.entries(metadata))
  }
  const trace = traceIn(options.trace as CallOptions["metadata"])
  if (trace !== undefined) event.trace = trace
  if (traceparent !== undefined) event.traceparent = traceparent
  if (progress !== undefined) event.progress = true
  if (options.requestInput !== undefined) event.canAnswer = true
  if (version !== undefined) event.version = version
  const { policy, idempotencyKey, outer, dryRun } = options
  if (dryRun === true && kind === "call") event.kind = "dry-run"
  if (policy !== undefined) event.policy = policy
  if (idempotencyKey !== undefined) event.idempotencyKey = idempotencyKey
  if (outer !== undefined) {
    event.depth = outer.depth
    event.rootRequestId = outer.rootRequestId
  }
  return event
}
