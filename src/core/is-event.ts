import { isRecord, isStrings } from "../internal/guards.ts"
import type { CallEvent } from "./events.ts"
import { isResponseEnvelope } from "./envelope.ts"
import type { Identity } from "./types.ts"
import { ID_LENGTH, OPERATION_ID_LENGTH } from "./spec-schemas.ts"

/** The message of the error for an invalid request. */
export const INVALID_REQUEST = "The request does not match CallEventSchema. It was not run."

/**
 * Whether a value is an event: `CallEventSchema` as plain code.
 *
 * Every event that arrives is checked here, also in browsers, which therefore need no schema compiler. A test
 * compares it with the schema.
 */
export function isCallEvent(value: unknown): value is CallEvent {
  if (!isEventForCaller(value)) return false
  if (value.type === "call.credit") return isCounter(value.credit)
  if (value.type === "call.asked") return isCounter(value.question) && isRecord(value.request)
  if (value.type === "call.answered") return isAnswer(value)
  return value.type !== "call.requested" || isRequest(value)
}

/**
 * The same for an endpoint that only calls: for questions and events of the serving side, only ids are
 * checked.
 */
export function isEventForCaller(value: unknown): value is CallEvent {
  if (!isRecord(value)) return false
  const it: { readonly [TKey in FieldName]?: unknown } = value
  if (!isId(it.requestId, ID_LENGTH)) return false
  switch (it.type) {
    case "call.requested":
    case "call.credit":
    case "call.asked":
    case "call.answered":
      return true
    case "call.responded":
      return maybeCount(it.seq) && isResponseEnvelope(it.output)
    case "call.completed":
      return maybeCount(it.seq)
    case "call.aborted":
      return maybe("string", it.reason)
    case "call.error":
      return (
        typeof it.code === "string" &&
        it.code !== "" &&
        typeof it.message === "string" &&
        maybe("boolean", it.retryable) &&
        maybe("boolean", it.mayHaveExecuted) &&
        maybeMilliseconds(it.retryAfterMs) &&
        maybeCount(it.attempts) &&
        maybe("boolean", it.internal)
      )
    case "call.progress":
      return (
        isNumber(it.progress) &&
        (it.total === undefined || isNumber(it.total)) &&
        maybe("string", it.message)
      )
    default:
      return false
  }
}

type FieldName = CallEvent extends infer TEvent
  ? TEvent extends CallEvent
    ? keyof TEvent
    : never
  : never

function isRequest(it: { readonly [TKey in FieldName]?: unknown }): boolean {
  return (
    isId(it.operationId, OPERATION_ID_LENGTH) &&
    (it.kind === undefined || isKind(it.kind)) &&
    maybe("string", it.version) &&
    maybe("string", it.parentRequestId) &&
    maybeCount(it.depth) &&
    (it.rootRequestId === undefined || isId(it.rootRequestId, ID_LENGTH)) &&
    (it.deadline === undefined || isNumber(it.deadline)) &&
    (it.timeout === undefined || isNumber(it.timeout)) &&
    maybeMilliseconds(it.idleTimeout) &&
    (it.identity === undefined || isIdentity(it.identity)) &&
    (it.metadata === undefined || isRecord(it.metadata)) &&
    (it.trace === undefined || isRecord(it.trace)) &&
    maybe("string", it.traceparent) &&
    maybeCount(it.window) &&
    maybe("boolean", it.progress) &&
    maybe("boolean", it.canAnswer) &&
    (it.policy === undefined || isRecord(it.policy)) &&
    (it.idempotencyKey === undefined || isId(it.idempotencyKey, 255))
  )
}

function isAnswer(it: { readonly [TKey in FieldName]?: unknown }): boolean {
  return (
    isCounter(it.question) &&
    (it.response === undefined || isRecord(it.response)) &&
    maybe("string", it.reason)
  )
}

function isIdentity(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { id, scopes, resources } = value as Partial<Identity>
  if (typeof id !== "string" || !isStrings(scopes)) return false
  return (
    resources === undefined || (isRecord(resources) && Object.values(resources).every(isStrings))
  )
}

/** JSON Schema counts characters, which are at most as many as a string is long. */
function isId(value: unknown, limit: number): boolean {
  if (typeof value !== "string" || value === "") return false
  return value.length <= limit || (value.length <= 2 * limit && [...value].length <= limit)
}

// In memory a deadline may be infinite; JSON has no such number.
function isNumber(value: unknown): boolean {
  return typeof value === "number" && !Number.isNaN(value)
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0
}

function isCounter(value: unknown): boolean {
  return isCount(value) && (value as number) >= 1
}

function maybeCount(value: unknown): boolean {
  return value === undefined || isCount(value)
}

function maybeMilliseconds(value: unknown): boolean {
  return value === undefined || (isNumber(value) && (value as number) >= 0)
}

function maybe(type: "string" | "boolean", value: unknown): boolean {
  return value === undefined || typeof value === type
}

function isKind(kind: unknown): boolean {
  return kind === "call" || kind === "stream" || kind === "dry-run"
}
