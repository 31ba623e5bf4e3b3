import { CallError, isCallError } from "../core/errors.ts"
import { isObject } from "../internal/guards.ts"
import { cutText, jsonText } from "../internal/message-text.ts"
import { excerpt } from "./decode.ts"
import type { HttpResponse } from "./exchange.ts"
import { readBody, type ReadBodyOptions } from "./read-body.ts"
import { isRepeatable } from "./request.ts"
import { retryAfterOf } from "./retry-after.ts"

/** The call that a failed response belongs to. */
export interface HttpErrorContext {
  readonly operationId: string
  readonly method: string
  /** The request may change something on the other side. */
  readonly mayHaveEffect: boolean
}

/** `details` of the error for a failed response. */
export interface HttpErrorDetails {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  /** The body; cut at 16 KiB of text, ending with "…". */
  readonly body: unknown
}

const MAX_BODY = 16 * 1024
const MAX_READ = 256 * 1024
const MAX_EXCERPT = 200

// The server did not start: request timeout, too early, too many requests, or unavailable.
const NOT_STARTED = new Set([408, 425, 429, 503])
// A gateway lost its upstream server, which may have processed the request.
const LOST = new Set([502, 504])

/**
 * The error for a failed response.
 *
 * With 408, 425, 429 and 503 the server did not start: they are retryable for every method. 502 and 504 are
 * retryable only when the request can be repeated safely.
 */
export function httpError(
  response: HttpResponse,
  body: unknown,
  { operationId, method, mayHaveEffect }: HttpErrorContext,
): CallError<"EXECUTION_ERROR", HttpErrorDetails> {
  const { status, headers } = response
  const retryAfterMs = retryAfterOf(headers["retry-after"])
  return new CallError("EXECUTION_ERROR", messageOf(response, method, body), {
    operationId,
    details: { statusCode: status, headers, body: limitBody(body) },
    retryable: NOT_STARTED.has(status) || (LOST.has(status) && isRepeatable(method, mayHaveEffect)),
    mayHaveExecuted: mayHaveEffect && status >= 500 && status !== 501 && !NOT_STARTED.has(status),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}

/** How the body of a failed response is read. */
export interface ReadErrorOptions
  extends HttpErrorContext, Omit<ReadBodyOptions, keyof HttpErrorContext | "truncate"> {
  /** Converts the error with knowledge of the API. The body may be truncated. */
  readonly refine?: ((error: CallError, body: unknown) => CallError) | undefined
}

/**
 * Reads as much of the body of a failed response as its error needs, and returns the error.
 *
 * A body that is too large or incomplete does not hide the status. An abort is returned as such.
 */
export async function readHttpError(
  response: HttpResponse,
  options: ReadErrorOptions,
): Promise<CallError> {
  const { refine = (error) => error } = options
  const maxBytes = Math.min(options.maxBytes ?? MAX_READ, MAX_READ)
  let data: unknown
  try {
    ;({ data } = await readBody(response, { ...options, maxBytes, truncate: true }))
  } catch (error) {
    if (options.signal.aborted && isCallError(error)) return error
  }
  return refine(httpError(response, data, options), data)
}

function messageOf(
  { status, statusText, url }: HttpResponse,
  method: string,
  body: unknown,
): string {
  const name = excerpt(statusText, 80)
  const reason = excerpt(errorTextOf(body), MAX_EXCERPT)
  const head = `HTTP ${status}${name === "" ? "" : ` ${name}`} from ${method} ${url.replace(/[?#].*$/s, "")}`
  if (status === 304) {
    return `${head}: the result has not changed, so there is no content. Call it without if-none-match and if-modified-since.`
  }
  return reason === "" ? `${head}.` : `${head}: ${reason}`
}

/** The error message in a body, from the fields that APIs commonly use. */
function errorTextOf(body: unknown): string {
  if (typeof body === "string") return /^\s*</.test(body) ? titleOf(body) : body
  if (typeof body === "number" || typeof body === "boolean") return String(body)
  if (typeof body !== "object" || body === null || body instanceof Uint8Array) return ""
  const { message, error, detail, title, error_description: description, errors } = fields(body)
  const first = Array.isArray(errors) ? (errors[0] as unknown) : errors
  const text = [message, fields(error)["message"], description, detail, title, error, first]
    .map((value) => (typeof value === "string" ? value : fields(value)["message"]))
    .find((value) => typeof value === "string" && value.trim() !== "")
  return typeof text === "string" ? text : (jsonText(body) ?? "")
}

/** The title of an HTML page. */
function titleOf(html: string): string {
  const title = /<title[^>]{0,200}>([^<]{1,500})/i.exec(html.slice(0, MAX_BODY))?.[1]
  return title ?? html
}

function limitBody(body: unknown): unknown {
  if (body instanceof Uint8Array) return `[${body.length} bytes]`
  if (typeof body === "string") return cutText(body, MAX_BODY)
  const text = jsonText(body)
  return text === undefined || text.length <= MAX_BODY ? body : cutText(text, MAX_BODY)
}

function fields(value: unknown): Record<string, unknown> {
  return isObject(value) ? (value as Record<string, unknown>) : {}
}
