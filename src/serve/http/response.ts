// What handlers set with `httpResponse`, in the answers of the API.

import type { OwnResponse, ResponseHost } from "../../core/http-response.ts"
import type { Logger } from "../../internal/logger.ts"
import { isLoopback } from "../../internal/unencrypted.ts"
import { isStream, NULL_SINK } from "../exchange.ts"
import type { HTTPAnswer, HTTPIncoming } from "../exchange.ts"
import type { NodeRequestLike } from "../node-types.ts"

/** The request of a call, as far as its response needs it. */
export type RespondingRequest = Pick<HTTPIncoming, "header" | "like" | "raw" | "response">

/** The request of a call, of which the handler may set the response. */
export function responseHostOf(
  incoming: RespondingRequest,
  operationId: string,
  logger: Logger,
): ResponseHost {
  return {
    get response() {
      return incoming.response
    },
    set response(response) {
      incoming.response = response
    },
    isPlainLoopback: () => isPlainLoopback(incoming),
    warn: (message) => logger.warn(message, { operationId }),
  }
}

/** Behind a proxy, the page that called or the proxy itself may say that the browser uses TLS. */
function isPlainLoopback(incoming: RespondingRequest): boolean {
  const { protocol, hostname } = originOf(incoming)
  const forwarded = `${incoming.header("origin") ?? ""} ${incoming.header("x-forwarded-proto") ?? ""}`
  return protocol === "http:" && isLoopback(hostname) && !/\bhttps\b/i.test(forwarded)
}

/** Where a request was sent to, by its own account. */
export function originOf({ raw, like }: Pick<HTTPIncoming, "raw" | "like">): URL {
  const { headers, socket, url = "" } = (raw ?? like) as NodeRequestLike
  // That of a web request is a whole one.
  if (raw !== undefined && URL.canParse(url)) return new URL(url)
  const isEncrypted = (socket as { readonly encrypted?: unknown } | undefined)?.encrypted === true
  const host = headers[":authority"] ?? headers["host"]
  const text = `${isEncrypted ? "https" : "http"}://${typeof host === "string" ? host : ""}`
  return new URL(URL.canParse(text) ? text : "http://unknown")
}

/**
 * The result of an operation with the status that its handler set, or 304 if the client has it already.
 *
 * For REST only: clients of the gateway read an envelope.
 */
export function withStatus(
  answer: HTTPAnswer,
  incoming: Pick<HTTPIncoming, "method" | "header" | "response">,
): HTTPAnswer {
  const { response } = incoming
  if (response === undefined) return answer
  let { status = answer.status } = response
  const isRedirect = status >= 300 && status !== 304
  if (isRedirect && !response.headers.has("location")) {
    response.warn(
      `The status ${status} of an HTTP response needs the header location: it was not used.`,
    )
    status = answer.status
  }
  if (status < 300 && isUnchanged(incoming, response)) status = 304
  if (status < 300 && status !== 204 && status !== 205) return { ...answer, status }
  const {
    "content-type": _,
    "content-length": __,
    "content-disposition": ___,
    ...headers
  } = answer.headers
  // Ends the stream. Never rejects.
  if (isStream(answer.body)) void answer.body.run(NULL_SINK)
  return { status, headers }
}

/** Whether the client has the result already, by the `etag` that the handler set. */
function isUnchanged(
  incoming: Pick<HTTPIncoming, "method" | "header">,
  { headers }: OwnResponse,
): boolean {
  const etag = headers.get("etag")
  const known = incoming.header("if-none-match")
  if (etag === null || known === undefined || !/^(?:GET|HEAD)$/.test(incoming.method)) return false
  // Weak ones are equal to strong ones: the client has the result either way.
  const isSame = (tag: string, at: number): boolean => at % 2 === 1 && tag === etag.split('"')[1]
  return known.trim() === "*" || known.split('"').some(isSame)
}

/** Headers whose values are added to those of the server. */
const ADDED: readonly string[] = ["vary", "link"]

const EXPOSED = "access-control-expose-headers"

/** The answer with the headers that the handler set; fixes them. */
export function withOwnHeaders(answer: HTTPAnswer, response: OwnResponse): HTTPAnswer {
  if (answer.status >= 400) response.dropResult()
  const headers: Record<string, string> = { ...answer.headers }
  for (const [name, value] of response.seal().headers) {
    const before = headers[name]
    if (name === "set-cookie") headers[name] = before === undefined ? value : `${before}\n${value}`
    else {
      headers[name] = before !== undefined && ADDED.includes(name) ? `${before}, ${value}` : value
      // Pages of other origins that may read the response may read this, too.
      if (headers[EXPOSED] !== undefined) headers[EXPOSED] += `, ${name}`
    }
  }
  return { ...answer, headers }
}
