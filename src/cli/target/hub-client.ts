import { changedError } from "../../core/error-changes.ts"
import { CallError, isCallError } from "../../core/errors.ts"
import { problemError } from "../../core/problem.ts"
import { exchange } from "../../http-client/exchange.ts"
import { readBody } from "../../http-client/read-body.ts"
import { createSseFrameParser, type Frame } from "../../http-client/sse.ts"
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
  const { response, reading } = await ask(address, path, signal, "application/json", body)
  const { data } = await readBody(response, reading)
  if (typeof data === "object" && data !== null) return data
  throw notHub(response.status, address.url)
}

/** Maximum number of characters of an event of a hub. */
const MAX_EVENT = 10 * 1024 * 1024

/** The server-sent events of a path of a hub. Leaving the loop ends the request. */
export async function* eventsFromHub(
  address: HubAddress,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Frame, void, void> {
  const { response } = await ask(address, path, signal, "text/event-stream")
  const { body, contentType, status } = response
  if (body === null || !contentType.startsWith("text/event-stream")) {
    await body?.cancel()
    throw notHub(status, address.url)
  }
  const frames = createSseFrameParser(MAX_EVENT)
  const decoder = new TextDecoder()
  for await (const bytes of body) {
    yield* frames.feed(decoder.decode(bytes, { stream: true }))
    if (frames.isOverLimit) throw notHub(status, address.url)
  }
}

/** The successful response to a request; throws the error of any other. */
async function ask(
  address: HubAddress,
  path: string,
  signal: AbortSignal,
  accept: string,
  body?: object,
) {
  const { url, token } = address
  const method = body === undefined ? "GET" : "POST"
  const secrets = token === undefined ? [] : [token]
  const common = { signal, secrets, operationId: undefined, subject: "The request to the hub" }
  const headers = {
    accept,
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
  if (!isFailure) return { response, reading }
  const { data } = await readBody(response, reading)
  throw withCure(problemError(data), url) ?? notHub(response.status, url)
}

/** An error of a hub, with what to do about it. */
export function withCure<TError>(error: TError, hub: string): TError | CallError {
  if (!isCallError(error, "UNAUTHENTICATED")) return error
  const cure = `The hub at ${hub} needs a credential; set OPERATIONS_TOKEN, or give --token.`
  return changedError(error, { message: `${error.message}\n${cure}` })
}

function notHub(status: number, url: string): CallError {
  return new CallError(
    "UNAVAILABLE",
    `${url} answered with ${status} and not as a hub does. Is the address right?`,
    { retryable: false },
  )
}
