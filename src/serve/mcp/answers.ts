import type { CallError } from "../../core/errors.ts"
import { retryAfterOf, statusOf } from "../../core/problem.ts"
import type { RequestId } from "./sdk.ts"

type Headers = Readonly<Record<string, string>>

/** A response that is complete: a text, or nothing. Servers write it without the objects of the web platform. */
export class TextAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Headers
  readonly body: string | undefined

  constructor(status: number, headers: Headers, body?: string) {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** A response: of the SDK, or a text. */
export type Answer = Response | TextAnswer

/** Options of an error response. */
export interface RefusalOptions {
  readonly id?: RequestId | null | undefined
  readonly data?: unknown
  /** Lower-case names. */
  readonly headers?: Headers | undefined
}

/** An HTTP response with a JSON-RPC error. */
export function refuse(
  status: number,
  code: number,
  message: string,
  { id = null, data, headers }: RefusalOptions = {},
): TextAnswer {
  const error = { code, message, ...(data === undefined ? {} : { data }) }
  return jsonAnswer(status, JSON.stringify({ jsonrpc: "2.0", error, id }), headers)
}

/** The response to a caller that may try again later: over a limit, or during an outage. */
export function refuseWith({ code, message, retryable, retryAfterMs }: CallError): TextAnswer {
  const headers = retryAfterOf({ retryAfterMs: retryAfterMs ?? (retryable ? 1000 : undefined) })
  return refuse(statusOf(code), NOT_SERVED, message, { headers })
}

/** A response with a JSON text. */
export function jsonAnswer(status: number, text: string, headers?: Headers): TextAnswer {
  return new TextAnswer(
    status,
    headers === undefined ? JSON_HEADERS : { ...headers, ...JSON_HEADERS },
    text,
  )
}

const JSON_HEADERS: Headers = { "content-type": "application/json" }

/** The answer to a client that has left. */
export const GONE: TextAnswer = new TextAnswer(499, {})

/** An answer for a web server. */
export function responseOf(answer: Answer): Response {
  if (!(answer instanceof TextAnswer)) return answer
  const { status, headers, body = null } = answer
  return new Response(body, { status, headers })
}

/** Whether a response is a stream of events. */
export function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") === true
}

/** Code of requests that are refused before their message is read. */
export const NOT_SERVED = -32000
