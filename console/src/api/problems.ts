import { problemError, problemOf } from "../../../src/core/problem.ts"
import { getOwn } from "../../../src/schema/json.ts"
import { ProblemError } from "./model.ts"
import type { HTTPProblem } from "./model.ts"

/** Creates a problem for a failure that the hub did not report itself. */
export function localProblem(
  code: string,
  title: string,
  detail: string,
  more: Partial<HTTPProblem> = {},
): HTTPProblem {
  return {
    type: "about:blank",
    title,
    status: 0,
    detail,
    code,
    retryable: false,
    mayHaveExecuted: false,
    ...more,
  }
}

/** The problem in a response. A proxy in between may answer with anything. */
export async function readProblem(response: Response): Promise<HTTPProblem> {
  const { status, statusText } = response
  // Otherwise it is an HTML page, or a truncated response.
  const problem = toProblem(await response.json().catch(() => undefined), status)
  if (problem !== undefined) return problem
  const statusLine = `${status} ${statusText}`.trim()
  return localProblem(
    status === 401 ? "UNAUTHENTICATED" : status === 429 ? "RATE_LIMITED" : "UNAVAILABLE",
    "Unexpected answer",
    `The hub, or something between it and this page, answered ${statusLine} without saying why.`,
    { status, retryable: status === 429 || status >= 500 },
  )
}

/** The hub could not be reached, or went away. */
export function unreachable(mayHaveExecuted: boolean): HTTPProblem {
  return localProblem(
    "UNAVAILABLE",
    "The hub cannot be reached",
    "The connection to the hub failed. Check that the hub is running, and that this machine is online.",
    { retryable: !mayHaveExecuted, mayHaveExecuted },
  )
}

/** The hub sent a response of an unexpected form. */
export function unexpectedAnswer(what: string): ProblemError {
  const detail = `${what} is not what a hub answers. Check that this page and the hub have the same version.`
  return new ProblemError(localProblem("DATA_LOSS", "Unexpected answer", detail), 0)
}

/** A stream ended before its end event. */
export function brokeOff(what: string): HTTPProblem {
  const detail = `${what} broke off before its end: the hub stopped, or the connection was lost.`
  const more = { retryable: true, mayHaveExecuted: true }
  return localProblem("UNAVAILABLE", "The stream broke off", detail, more)
}

/** The problem of a hub that a value in JSON is; `undefined` for anything else. */
export function toProblem(value: unknown, status?: number): HTTPProblem | undefined {
  const error = problemError(value)
  if (error === undefined) return undefined
  const own = getOwn(value as object, "status")
  return problemOf(
    error,
    undefined,
    undefined,
    status ?? (typeof own === "number" ? own : undefined),
  )
}

/** Whether a retry would not help: missing rights, or no such resource. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ProblemError && [401, 403, 404].includes(error.status)
}
