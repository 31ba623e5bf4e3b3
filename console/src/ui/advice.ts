import { isRecord } from "../../../src/internal/guards.ts"
import { listOf } from "../../../src/schema/json.ts"
import type { HTTPProblem } from "../api/model.ts"
import { formatDuration } from "./format.ts"

const ADVICE: Readonly<Record<string, string>> = {
  OPERATION_NOT_FOUND: "It may have been removed, or its source is not connected. See Sources.",
  INVALID_OPERATION_TYPE: "You can watch subscriptions, and call queries and mutations.",
  UNAUTHENTICATED: "Sign in with an API key or a token.",
  ACCESS_DENIED: "Sign in with an identity that has the scopes that the operation requires.",
  VALIDATION_ERROR: "Correct the listed parts of the input, and run it again.",
  OUTPUT_VALIDATION_ERROR:
    "The result does not match the schema of the operation. Report it to the owner of the operation.",
  TIMEOUT: "Set a longer timeout, or request less.",
  ABORTED: "It was cancelled. You can run it again.",
  UNAVAILABLE: "The source of the operation cannot be reached at the moment. See Sources.",
  OVERLOADED: "The hub is overloaded at the moment. Try again a little later.",
  RATE_LIMITED: "Too many calls in a short time. Wait, then try again.",
  PAYLOAD_TOO_LARGE:
    "The input or the result exceeds the size limit of the hub. Send or request less.",
  CONFLICT: "Something else changed the same data. Read its current state, then try again.",
  EGRESS_BLOCKED:
    "The hub is not allowed to reach that address. Its configuration lists the allowed ones.",
  CIRCUIT_OPEN: "The source of the operation has failed too often. It is tried again in a moment.",
}

/** Advice for a problem; `undefined` if its own message has to suffice. */
export function adviceFor(problem: HTTPProblem): string | undefined {
  const { code, retryAfterMs, retryable, status } = problem
  // It did not reach the hub: advice about sources would lead astray.
  if (code === "UNAVAILABLE" && status === 0) return undefined
  if (retryAfterMs !== undefined) return `Try again in ${formatDuration(retryAfterMs)}.`
  if (Object.hasOwn(ADVICE, code)) return ADVICE[code]
  return retryable ? "It may work if you try again. Nothing has been changed." : undefined
}

/** One validation error of an input. */
export interface ValueIssue {
  readonly path: string
  readonly message: string
}

/** The validation errors in the details of a problem. */
export function issuesOf(problem: HTTPProblem): readonly ValueIssue[] {
  const { details } = problem
  return isRecord(details) ? listOf(details["errors"]).filter(isValueIssue) : []
}

function isValueIssue(value: unknown): value is ValueIssue {
  if (!isRecord(value)) return false
  return typeof value["path"] === "string" && typeof value["message"] === "string"
}
