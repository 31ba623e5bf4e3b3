import type { HTTPIncoming } from "../exchange.ts"
import { HTTPRefusal } from "./context.ts"
import type { RequestTerms } from "./call-sink.ts"

/** What the headers of a request say about the call; `longest` is the most time that it may have. */
export function termsOf(incoming: HTTPIncoming, longest: number | undefined): RequestTerms {
  const timeout = incoming.header("x-timeout-ms")
  const traceparent = incoming.header("traceparent")
  return {
    timeout: timeout === undefined ? longest : shorter(milliseconds(timeout), longest),
    metadata: traceparent === undefined ? undefined : { traceparent },
  }
}

/** The same for a stream, which lasts as long as its client stays and may go on from an event. */
export function streamTermsOf(incoming: HTTPIncoming): RequestTerms {
  const terms = termsOf(incoming, undefined)
  const lastEventId = incoming.header("last-event-id")
  if (lastEventId === undefined || lastEventId.length > 256) return terms
  return { ...terms, metadata: { ...terms.metadata, lastEventId } }
}

/** The number of the last event that a client has seen; 0 when it has seen none of ours. */
export function lastNumberOf(incoming: HTTPIncoming): number {
  const text = incoming.header("last-event-id") ?? ""
  return /^\d{1,15}$/.test(text) ? Number(text) : 0
}

/**
 * The id of a request: the one that its client gave, if it is sane, or a new one.
 *
 * Ids that are counted would tell everyone how much there is to do here.
 */
export function requestIdFor(given: string | undefined): string {
  return given !== undefined && SANE_ID.test(given) ? given : crypto.randomUUID()
}

const SANE_ID = /^[\w.:-]{1,128}$/

function milliseconds(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new HTTPRefusal(
    400,
    "VALIDATION_ERROR",
    "The header x-timeout-ms must be a whole number of milliseconds, such as 5000.",
  )
}

function shorter(asked: number, longest: number | undefined): number {
  return longest === undefined ? asked : Math.min(asked, longest)
}
