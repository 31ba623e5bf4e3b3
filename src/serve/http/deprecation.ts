import type { OperationSpec } from "../../core/types.ts"
import type { HTTPCaller, HTTPAnswer } from "../exchange.ts"
import { withHeaders } from "./answer.ts"
import type { RouteRequest } from "./context.ts"
import type { HTTPContext } from "./http-context.ts"

/** Runs what answers a request; a problem of a deprecated operation has the same headers as a result. */
export async function answerOperation(
  context: HTTPContext,
  request: RouteRequest,
  spec: OperationSpec,
  pathTo: (spec: OperationSpec) => string,
  run: () => HTTPAnswer | Promise<HTTPAnswer>,
): Promise<HTTPAnswer> {
  let answered: HTTPAnswer
  try {
    answered = await run()
  } catch (error) {
    answered = context.problem(error, request, spec)
  }
  return withDeprecation(answered, spec, context, request.caller, pathTo)
}

/**
 * Adds `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` (RFC 8288) to the answer of an operation, if it is deprecated.
 *
 * No date is made up: without `since` there is no `Deprecation`. `pathTo` returns the path
 * of another operation relative to this one's, and holds wherever the API is mounted.
 */
export function withDeprecation(
  answer: HTTPAnswer,
  { deprecation }: OperationSpec,
  context: HTTPContext,
  caller: HTTPCaller,
  pathTo: (spec: OperationSpec) => string,
): HTTPAnswer {
  if (deprecation === undefined) return answer
  const { since, sunset, replacedBy, link } = deprecation
  const successor = replacedBy === undefined ? undefined : context.findFor(caller, replacedBy)
  const links = [
    ...(link === undefined ? [] : [`<${link}>; rel="deprecation"`]),
    // An operation that is not served here has no path, and the caller does not learn of one that it may not see.
    ...(successor === undefined ? [] : [`<${pathTo(successor)}>; rel="successor-version"`]),
  ]
  return withHeaders(answer, {
    ...(since !== undefined && { deprecation: `@${Math.floor(Date.parse(since) / 1000)}` }),
    ...(sunset !== undefined && { sunset: new Date(sunset).toUTCString() }),
    ...(links.length > 0 && { link: links.join(", ") }),
  })
}
