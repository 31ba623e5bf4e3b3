import { optionsIssue } from "../../engine/options.ts"
import { refusal, type CallError } from "../../core/errors.ts"
import { OPERATION_ID_LENGTH } from "../../core/spec-schemas.ts"
import { typeName } from "../../internal/message-text.ts"
import { findOptionIssue } from "../../internal/option-issues.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { TraceContext } from "../../core/tracing.ts"
import type { CallOptions } from "../../core/types.ts"

/** Options of a call or stream through the protocol. */
export interface PendingOptions extends Pick<
  CallOptions,
  | "deadline"
  | "timeout"
  | "signal"
  | "identity"
  | "parentRequestId"
  | "metadata"
  | "progress"
  | "requestInput"
  | "policy"
  | "idempotencyKey"
  | "dryRun"
> {
  /** A stream: milliseconds to wait for an item before giving up. */
  readonly idleTimeout?: number | undefined
  /** A stream: items that may be in flight. */
  readonly window?: number | undefined
  /** The trace context that the call belongs to. What is malformed is not sent on. */
  readonly trace?: TraceContext | undefined
  /** The same without state and baggage. */
  readonly traceparent?: string | undefined
  /** Over a broker: the version of the operation, where workers serve several. A worker with a compatible one runs it. */
  readonly version?: string | undefined
}

/** Checks the id and the options of a request; returns the error, or `undefined` when they are valid. */
export function requestError(
  id: unknown,
  options: PendingOptions | undefined,
): CallError | undefined {
  try {
    return checkRequest(id, options)
  } catch (cause) {
    return refusal("VALIDATION_ERROR", `The options of a call cannot be read.`, { cause })
  }
}

function checkRequest(id: unknown, options: PendingOptions | undefined): CallError | undefined {
  if (typeof id !== "string" || id === "" || id.length > OPERATION_ID_LENGTH) {
    const got = typeof id === "string" ? `one of ${id.length} characters` : typeName(id)
    const message = `An operation's id must be a string such as "task.create", got ${got}.`
    return refusal("OPERATION_NOT_FOUND", message)
  }
  if (options === undefined) return undefined
  const issue =
    optionsIssue(options) ?? findOptionIssue(options, { members: OWN_OPTIONS, open: true })
  if (issue === undefined) return undefined
  return refusal(
    "VALIDATION_ERROR",
    `The options for "${id}" are invalid: ${`${issue.path.slice(1)} ${issue.message}`.trim()}.`,
    { operationId: id, details: { errors: [issue] } },
  )
}

/** What the protocol adds to the options of a call. */
const OWN_OPTIONS = {
  idleTimeout: "duration",
  window: { min: 1, whole: true },
  trace: { record: "any" },
  traceparent: "string",
  version: "string",
} as const satisfies Partial<OptionsSchema<PendingOptions>>
