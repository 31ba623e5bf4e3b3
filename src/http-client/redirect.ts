import { CallError } from "../core/errors.ts"
import { REDIRECTS, becomesGet, type PreparedRequest } from "./request.ts"
import { originOf, parseUrl, sameOrigin } from "./egress.ts"
import { subjectOf, type RequestContext } from "./request-errors.ts"

const BODY_HEADERS = /^content-/

/**
 * The request that a redirect asks for; `undefined` when the response is not a redirect.
 *
 * Throws when it leads to another origin, or when the body is a stream that cannot be sent again.
 */
export function redirectedRequest(
  request: PreparedRequest,
  response: Response,
  context: RequestContext,
): PreparedRequest | undefined {
  if (response.type === "opaqueredirect") throw redirectBlockedError(request, 0, undefined, context)
  const location = response.headers.get("location")
  if (!REDIRECTS.has(response.status) || location === null) return undefined
  const target = parseUrl(location, request.url)
  const isHere = target !== undefined && sameOrigin(target, request.url)
  // A user name and password in the address come from the server, not from the user.
  if (!isHere || target.username !== "" || target.password !== "") {
    throw redirectBlockedError(request, response.status, target, context)
  }
  if (!becomesGet(request.method, response.status)) {
    if (request.body instanceof ReadableStream)
      throw streamSentError(request, response.status, context)
    return { ...request, url: target.href }
  }
  const headers = Object.entries(request.headers).filter(([name]) => !BODY_HEADERS.test(name))
  return { method: "GET", url: target.href, headers: Object.fromEntries(headers), body: undefined }
}

/** Throws when a `fetch` followed a redirect to another origin by itself. */
export function assertSameOrigin(
  request: PreparedRequest,
  response: Response,
  context: RequestContext,
): void {
  if (!response.redirected || sameOrigin(response.url, request.url)) return
  void response.body?.cancel().catch(() => undefined)
  throw new CallError(
    "EGRESS_BLOCKED",
    `${subjectOf(context)} ended at ${originOf(response.url) ?? "another origin"}: the custom "fetch" ` +
      `follows redirects to other origins. Make it honour redirect: "manual".`,
    { operationId: context.operationId, mayHaveExecuted: context.mayHaveEffect },
  )
}

/** The error for too many redirects. */
export function tooManyRedirectsError(
  request: PreparedRequest,
  limit: number,
  context: RequestContext,
): CallError {
  return new CallError(
    "EXECUTION_ERROR",
    `${subjectOf(context)} to ${originOf(request.url)} was redirected more than ${limit} times.`,
    { operationId: context.operationId, mayHaveExecuted: context.mayHaveEffect },
  )
}

function redirectBlockedError(
  request: PreparedRequest,
  status: number,
  target: URL | undefined,
  context: RequestContext,
): CallError {
  const from = originOf(request.url) ?? "its server"
  const to = target === undefined ? undefined : (originOf(target) ?? target.protocol)
  const code = status === 0 ? "" : ` (${status})`
  const cure =
    to === undefined || target === undefined || to === from
      ? `Set redirect: "return" to see the target.`
      : `If the API is there, set "baseUrl" to it; with redirect: "return" the call ` +
        `returns the redirect itself.`
  return new CallError(
    "EGRESS_BLOCKED",
    `${subjectOf(context)} was answered by ${from} with a redirect${code} to ` +
      `${to ?? "an address that cannot be used"}, which is not followed: requests stay within ` +
      `their origin. ${cure}`,
    {
      operationId: context.operationId,
      details: { statusCode: status, origin: to },
      // 307 and 308 ask for the same request elsewhere: nothing has been done yet.
      mayHaveExecuted: context.mayHaveEffect && status < 307,
    },
  )
}

function streamSentError(
  request: PreparedRequest,
  status: number,
  context: RequestContext,
): CallError {
  return new CallError(
    "EXECUTION_ERROR",
    `${subjectOf(context)} was redirected (${status}) within ${originOf(request.url)}, and its body ` +
      `is a stream, which cannot be sent twice. Send a Blob or bytes, or call the new address.`,
    { operationId: context.operationId, mayHaveExecuted: false, details: { statusCode: status } },
  )
}
