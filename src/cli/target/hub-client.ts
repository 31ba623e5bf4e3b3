import { changedError } from "../../core/error-marks.ts"
import { CallError, isCallError } from "../../core/errors.ts"
import { problemError } from "../../core/problem.ts"
import { exchange } from "../../http-client/exchange.ts"
import { readBody } from "../../http-client/read-body.ts"
import type { HubAddress } from "./hub-address.ts"

// Results of operations may be large; the hub has its own limits.
export const MAX_BYTES: number = 256 * 1024 * 1024

/** The headers of requests to a hub. */
export function hubHeaders({ token }: HubAddress): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

/** Gets JSON of a hub, such as `/operations`; with a body, posts it. Failures are `CallError`s, as in the hub. */
export async function getFromHub(
  address: HubAddress,
  path: string,
  signal: AbortSignal,
  body?: object,
): Promise<unknown> {
  const { url, token } = address
  const method = body === undefined ? "GET" : "POST"
  const secrets = token === undefined ? [] : [token]
  const common = { signal, secrets, operationId: undefined, subject: "The request to the hub" }
  const headers = {
    accept: "application/json",
    ...(body !== undefined && { "content-type": "application/json" }),
    ...hubHeaders(address),
  }
  const sent = body === undefined ? undefined : JSON.stringify(body)
  const response = await exchange(
    { method, url: `${url}${path}`, headers, body: sent },
    { ...common, fetch: globalThis.fetch, mayHaveEffect: body !== undefined },
  )
  const isFailure = response.status >= 400
  const reading = { ...common, method, maxBytes: MAX_BYTES, truncate: isFailure }
  const { data } = await readBody(response, reading)
  if (!isFailure && typeof data === "object" && data !== null) return data
  throw withCure(isFailure ? problemError(data) : undefined, url) ?? notHub(response.status, url)
}

/** An error of a hub, with what to do about it. */
export function withCure<TError>(error: TError, hub: string): TError | CallError {
  if (!isCallError(error, "UNAUTHENTICATED")) return error
  const cure = `The hub at ${hub} needs a credential: set OPERATIONS_TOKEN, or give --token.`
  return changedError(error, { message: `${error.message}\n${cure}` })
}

function notHub(status: number, url: string): CallError {
  return new CallError(
    "UNAVAILABLE",
    `${url} answered with ${status} and not as a hub does. Is the address right?`,
    { retryable: false },
  )
}
