import { CallError } from "../core/errors.ts"
import type { PreparedRequest } from "./request.ts"
import { originOf, sameOrigin } from "./egress.ts"
import { subjectOf } from "./failure.ts"

/** What a redirect needs to know about the call. */
export interface RedirectContext {
  readonly operationId: string | undefined
  readonly mayHaveEffect: boolean
  readonly subject?: string | undefined
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])
const BODY_HEADERS = /^content-/

/**
 * The request that a redirect asks for; `undefined` when the response is none.
 *
 * Throws when it leads to another origin, or asks for a body that can be read only once.
 */
export function redirected(
  request: PreparedRequest,
  response: Response,
  context: RedirectContext,
): PreparedRequest | undefined {
  if (response.type === "opaqueredirect") throw blocked(request, 0, undefined, context)
  const location = response.headers.get("location")
  if (!REDIRECTS.has(response.status) || location === null) return undefined
  const target = URL.canParse(location, request.url) ? new URL(location, request.url) : undefined
  const isHere = target !== undefined && sameOrigin(target, request.url)
  // A name and a password in the address are the server's idea, not the user's.
  if (!isHere || target.username !== "" || target.password !== "") {
    throw blocked(request, response.status, target, context)
  }
  if (!becomesGet(request.method, response.status)) {
    if (request.body instanceof ReadableStream) throw spent(request, response.status, context)
    return { ...request, url: target.href }
  }
  const headers = Object.entries(request.headers).filter(([name]) => !BODY_HEADERS.test(name))
  return { method: "GET", url: target.href, headers: Object.fromEntries(headers), body: undefined }
}

/** Throws when a `fetch` followed a redirect by itself and ended somewhere else. */
export function assertStayed(
  request: PreparedRequest,
  response: Response,
  context: RedirectContext,
): void {
  if (!response.redirected || sameOrigin(response.url, request.url)) return
  void response.body?.cancel().catch(() => undefined)
  throw new CallError(
    "EGRESS_BLOCKED",
    `${subjectOf(context)} ended at ${originOf(response.url) ?? "another place"}: the "fetch" that ` +
      `was given follows redirects to other origins. Let it honour redirect: "manual".`,
    { operationId: context.operationId, mayHaveExecuted: context.mayHaveEffect },
  )
}

/** The error for a server that redirects again and again. */
export function tooManyRedirects(
  request: PreparedRequest,
  limit: number,
  context: RedirectContext,
): CallError {
  return new CallError(
    "EXECUTION_ERROR",
    `${subjectOf(context)} to ${originOf(request.url)} was redirected more than ${limit} times.`,
    { operationId: context.operationId, mayHaveExecuted: context.mayHaveEffect },
  )
}

// The platform's own rules, so that a redirect means the same here as in `fetch`.
function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== "GET" && method !== "HEAD"
  return (status === 301 || status === 302) && method === "POST"
}

function blocked(
  request: PreparedRequest,
  status: number,
  target: URL | undefined,
  context: RedirectContext,
): CallError {
  const from = originOf(request.url) ?? "its server"
  const to = target === undefined ? undefined : (originOf(target) ?? target.protocol)
  const code = status === 0 ? "" : ` (${status})`
  const cure =
    to === undefined || target === undefined || to === from
      ? `Use redirect: "return" to see where it leads.`
      : `If that is where the API lives, set "baseUrl" to it; with redirect: "return" the call ` +
        `gives the redirect itself.`
  return new CallError(
    "EGRESS_BLOCKED",
    `${subjectOf(context)} was answered by ${from} with a redirect${code} to ` +
      `${to ?? "an address that cannot be used"}, which is not followed: requests stay within ` +
      `their origin. ${cure}`,
    {
      operationId: context.operationId,
      details: { statusCode: status, origin: to },
      // 307 and 308 ask for the same request elsewhere: nothing was done yet.
      mayHaveExecuted: context.mayHaveEffect && status < 307,
    },
  )
}

function spent(request: PreparedRequest, status: number, context: RedirectContext): CallError {
  return new CallError(
    "EXECUTION_ERROR",
    `${subjectOf(context)} was redirected (${status}) within ${originOf(request.url)}, and its body ` +
      `is a stream, which cannot be sent twice. Send a Blob or bytes, or call the new address.`,
    { operationId: context.operationId, mayHaveExecuted: false, details: { statusCode: status } },
  )
}
