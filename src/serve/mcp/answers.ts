import type { CallError } from "../../core/errors.ts"
import { retryAfterOf, statusOf } from "../../core/problem.ts"
import type { HTTPAnswer, HTTPHeaders } from "../exchange.ts"
import { failure, type RequestId } from "./messages.ts"

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
  return new Refusal(jsonAnswer(status, failure(id, { code, message, data }).text, headers))
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

export const JSON_HEADERS: HTTPHeaders = { "content-type": "application/json" }

/** The answer to messages that have none of their own. */
export const ACCEPTED: HTTPAnswer = { status: 202, headers: {} }

/** The answer to a client that has left. */
export const GONE: HTTPAnswer = { status: 499, headers: {} }

/** Code of requests that are refused before their message is read. */
export const NOT_SERVED = -32000

/** What most clients send. */
export const USUAL_ACCEPT = "application/json, text/event-stream"
