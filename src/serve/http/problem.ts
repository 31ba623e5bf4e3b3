import { isCallError } from "../../core/errors.ts"
import { mapError } from "../../core/map-error.ts"
import { problemOf, retryAfterOf } from "../../core/problem.ts"
import type { HTTPProblem } from "../../core/problem.ts"
import type { OperationSpec } from "../../core/types.ts"
import type { HTTPAnswer } from "../exchange.ts"
import { COMMON_HEADERS, HTTPRefusal } from "./context.ts"

export { declaredStatus, statusOf } from "../../core/problem.ts"
export type { HTTPProblem } from "../../core/problem.ts"

/** The media type of a problem. */
export const PROBLEM_TYPE = "application/problem+json"

/** Converts a thrown value to a problem for clients: no stack, no cause, no secrets. Never throws. */
export function toProblem(thrown: unknown, spec?: OperationSpec, requestId?: string): HTTPProblem {
  const error = isCallError(thrown) ? thrown : mapError(thrown)
  const status = error instanceof HTTPRefusal ? error.status : undefined
  return problemOf(error, spec, requestId, status)
}

/** Converts a thrown value to a problem response. An `HTTPRefusal` has its own status and headers. */
export function problemAnswer(
  thrown: unknown,
  spec?: OperationSpec,
  requestId?: string,
): HTTPAnswer {
  const problem = toProblem(thrown, spec, requestId)
  return {
    status: problem.status,
    headers: {
      ...COMMON_HEADERS,
      "content-type": PROBLEM_TYPE,
      ...retryAfterOf(problem),
      ...(thrown instanceof HTTPRefusal && thrown.headers),
    },
    body: JSON.stringify(problem),
  }
}
