import type { HTTPProblem } from "../api/model.ts"
import { formatDuration } from "./format.ts"

const CURES: Readonly<Record<string, string>> = {
  OPERATION_NOT_FOUND: "It may have been removed, or its source is not open: see Sources.",
  INVALID_OPERATION_TYPE: "Subscriptions are watched, queries and mutations are called.",
  UNAUTHENTICATED: "Sign in with an API key or a token.",
  ACCESS_DENIED: "Sign in as somebody who has the scopes that the operation asks for.",
  VALIDATION_ERROR: "Correct the input where it says so, and run it again.",
  OUTPUT_VALIDATION_ERROR:
    "The operation gave something else than its schema says: tell its owner.",
  TIMEOUT: "Give it more time, or ask for less.",
  ABORTED: "It was cancelled. Run it again when you like.",
  UNAVAILABLE: "What answers it cannot be reached at the moment: see Sources.",
  OVERLOADED: "The hub has too much to do at the moment. Try again a little later.",
  RATE_LIMITED: "Too many calls in a short time. Wait, then try again.",
  PAYLOAD_TOO_LARGE:
    "The input, or the result, is larger than the hub takes. Send or ask for less.",
  CONFLICT: "Something else changed the same thing. Look at it as it is now, then try again.",
  EGRESS_BLOCKED: "The hub may not reach that address. Its configuration says which it may.",
}

/** What to do about a problem; nothing where only its own words can tell. */
export function cureOf(problem: HTTPProblem): string | undefined {
  const { code, retryAfterMs, retryable } = problem
  if (retryAfterMs !== undefined) return `Try again in ${formatDuration(retryAfterMs)}.`
  if (Object.hasOwn(CURES, code)) return CURES[code]
  return retryable ? "It may work if you try again: nothing has been changed." : undefined
}

/** One fault of an input. */
export interface Fault {
  readonly path: string
  readonly message: string
}

/** Where an input is wrong, as the details of a problem say. */
export function faultsOf(problem: HTTPProblem): readonly Fault[] {
  const { details } = problem
  if (typeof details !== "object" || details === null) return []
  const { errors } = details as { readonly errors?: unknown }
  if (!Array.isArray(errors)) return []
  return errors.filter(isFault)
}

function isFault(value: unknown): value is Fault {
  if (typeof value !== "object" || value === null) return false
  const { path, message } = value as { readonly path?: unknown; readonly message?: unknown }
  return typeof path === "string" && typeof message === "string"
}
