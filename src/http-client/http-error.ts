import { CallError, isCallError } from "../core/errors.ts"
import { cutText, excerpt } from "./decode.ts"
import type { HttpResponse } from "./exchange.ts"
import { readBody } from "./read-body.ts"
import type { ReadBodyOptions } from "./read-body.ts"
import { isRepeatable } from "./repeat.ts"
import { retryAfterOf } from "./retry-after.ts"

/** Which call a failed response answers. */
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
  /** As it was read; what is longer than 16 KiB of text is cut and ends with "…". */
  readonly body: unknown
}

const MAX_BODY = 16 * 1024
const MAX_READ = 256 * 1024
const MAX_EXCERPT = 200

// The server did not begin: it waited in vain, was asked too early or too often, or is not there.
const NOT_BEGUN = new Set([408, 425, 429, 503])
// A gateway lost its server, which may have done the work.
const LOST = new Set([502, 504])

/**
 * The error for a response that is a failure.
 *
 * 408, 425, 429 and 503 say that the server did not begin: these are retryable whatever the method.
 * 502 and 504 are so only where repeating the request does no harm.
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
    details: { statusCode: status, headers, body: bounded(body) },
    retryable: NOT_BEGUN.has(status) || (LOST.has(status) && isRepeatable(method, mayHaveEffect)),
    mayHaveExecuted: mayHaveEffect && status >= 500 && status !== 501 && !NOT_BEGUN.has(status),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}

/** How the body of a failed response is read. */
export interface ReadErrorOptions
  extends HttpErrorContext, Omit<ReadBodyOptions, keyof HttpErrorContext | "truncate"> {
  /** What the error becomes for whoever knows more of the body, of which it may have only the beginning. */
  readonly refine?: ((error: CallError, body: unknown) => CallError) | undefined
}

/**
 * Reads the body of a failed response, as far as an error needs it, and gives the error.
 *
 * A body that is too large or breaks off does not hide the status; an abort is what it is.
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
  const said = excerpt(wordsOf(body), MAX_EXCERPT)
  const head = `HTTP ${status}${name === "" ? "" : ` ${name}`} from ${method} ${withoutQuery(url)}`
  return said === "" ? `${head}.` : `${head}: ${said}`
}

/** What a failed API says about it, in the places where APIs say it. */
function wordsOf(body: unknown): string {
  if (typeof body === "string") return /^\s*</.test(body) ? titleOf(body) : body
  if (typeof body === "number" || typeof body === "boolean") return String(body)
  if (typeof body !== "object" || body === null || body instanceof Uint8Array) return ""
  const { message, error, detail, title, error_description: description, errors } = fields(body)
  const first = Array.isArray(errors) ? (errors[0] as unknown) : errors
  const found = [message, fields(error)["message"], description, detail, title, error, first]
    .map((value) => (typeof value === "string" ? value : fields(value)["message"]))
    .find((value) => typeof value === "string" && value.trim() !== "")
  return typeof found === "string" ? found : (jsonOf(body) ?? "")
}

/** A page for people: its title says it, its mark-up does not. */
function titleOf(html: string): string {
  const title = /<title[^>]{0,200}>([^<]{1,500})/i.exec(html.slice(0, MAX_BODY))?.[1]
  return title ?? html
}

function bounded(body: unknown): unknown {
  if (body instanceof Uint8Array) return `[${body.length} bytes]`
  if (typeof body === "string") return cutText(body, MAX_BODY)
  const text = jsonOf(body)
  return text === undefined || text.length <= MAX_BODY ? body : cutText(text, MAX_BODY)
}

function jsonOf(body: unknown): string | undefined {
  try {
    return JSON.stringify(body)
  } catch {
    return undefined
  }
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, "")
}
