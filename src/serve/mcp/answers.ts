import type { CallError } from "../../core/errors.ts"
import { retryAfterOf, statusOf } from "../../core/problem.ts"
import type { HTTPAnswer, HTTPIncoming, HTTPHeaders } from "../exchange.ts"
import { answerFrom } from "../fetch.ts"
import type { RequestId } from "./sdk.ts"

/** Options of an error response. */
export interface RefusalOptions {
  readonly id?: RequestId | null | undefined
  readonly data?: unknown
  /** Lower-case names. */
  readonly headers?: HTTPHeaders | undefined
}

/** A request that is answered with an error, wherever that is noticed. */
export class Refusal extends Error {
  readonly answer: HTTPAnswer

  constructor(answer: HTTPAnswer) {
    super(`Refused with ${answer.status}`)
    this.answer = answer
  }
}

/** A refusal with a JSON-RPC error. */
export function refuse(
  status: number,
  code: number,
  message: string,
  { id = null, data, headers }: RefusalOptions = {},
): Refusal {
  const error = { code, message, ...(data === undefined ? {} : { data }) }
  return new Refusal(jsonAnswer(status, JSON.stringify({ jsonrpc: "2.0", error, id }), headers))
}

/** The refusal of a caller that may try again later: over a limit, or during an outage. */
export function refuseWith({ code, message, retryable, retryAfterMs }: CallError): Refusal {
  const headers = retryAfterOf({ retryAfterMs: retryAfterMs ?? (retryable ? 1000 : undefined) })
  return refuse(statusOf(code), NOT_SERVED, message, { headers })
}

/** A response with a JSON text. */
export function jsonAnswer(status: number, body: string, headers?: HTTPHeaders): HTTPAnswer {
  return {
    status,
    headers: headers === undefined ? JSON_HEADERS : { ...headers, ...JSON_HEADERS },
    body,
  }
}

const JSON_HEADERS: HTTPHeaders = { "content-type": "application/json" }

/** The answer to a client that has left. */
export const GONE: HTTPAnswer = { status: 499, headers: {} }

/** A response of the SDK: events are sent as they come, everything else at once. */
export async function answerOf(response: Response): Promise<HTTPAnswer> {
  const answer = answerFrom(response)
  const isText =
    answer.body !== undefined && !answer.headers["content-type"]?.startsWith("text/event-stream")
  return isText ? { ...answer, body: await response.text() } : answer
}

/** Code of requests that are refused before their message is read. */
export const NOT_SERVED = -32000

/** Credential headers, which are not passed to the SDK. */
const OWN_HEADERS = ["authorization", "cookie", "proxy-authorization"] as const

/** What most clients send. */
export const USUAL_ACCEPT = "application/json, text/event-stream"

/** The request for the SDK, without its body, its credentials and the pseudo-headers of HTTP/2. */
export function requestOf({ method, like }: HTTPIncoming, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(like.headers)) {
    if (name.startsWith(":") || value === undefined) continue
    for (const one of typeof value === "string" ? [value] : value) headers.append(name, one)
  }
  for (const name of OWN_HEADERS) headers.delete(name)
  // We accept wildcards; the SDK requires the exact types.
  if (method === "POST") headers.set("accept", USUAL_ACCEPT)
  const { url = "/" } = like
  // Only the path is meaningful: the host is not trusted.
  const path = url.startsWith("/") ? url : "/"
  return new Request(`http://localhost${path}`, { method, headers, signal })
}
