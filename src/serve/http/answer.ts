import type { HTTPAnswer, HTTPStream } from "../exchange.ts"
import { COMMON_HEADERS } from "./context.ts"

type Headers = Readonly<Record<string, string>>

const JSON_HEADERS: Headers = { "content-type": "application/json", ...COMMON_HEADERS }
const STREAM_HEADERS: Headers = {
  "content-type": "text/event-stream; charset=utf-8",
  ...COMMON_HEADERS,
  // Buffering proxies would hold events back.
  "x-accel-buffering": "no",
}
const LINES_HEADERS: Headers = { ...STREAM_HEADERS, "content-type": "application/x-ndjson" }

/** A 204. */
export const EMPTY: HTTPAnswer = { status: 204, headers: COMMON_HEADERS }

/** A 200 with JSON text. */
export function jsonAnswer(text: string, extra?: Headers): HTTPAnswer {
  const headers = extra === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...extra }
  return { status: 200, headers, body: text }
}

/** A 200 with server-sent events. */
export function streamAnswer(body: HTTPStream): HTTPAnswer {
  return { status: 200, headers: STREAM_HEADERS, body }
}

/** A 200 with one JSON value per line. */
export function linesAnswer(body: HTTPStream): HTTPAnswer {
  return { status: 200, headers: LINES_HEADERS, body }
}

/** Adds headers to an answer; `vary` is extended. */
export function withHeaders(answer: HTTPAnswer, extra: Headers): HTTPAnswer {
  const { status, headers, body } = answer
  if (headers !== JSON_HEADERS) return { status, headers: merged(headers, extra), body }
  // Cached: nearly every answer has the same few combinations.
  let cached = usual.get(extra)
  if (cached === undefined) usual.set(extra, (cached = merged(headers, extra)))
  return { status, headers: cached, body }
}

const usual = new WeakMap<Headers, Headers>()

function merged(own: Headers, extra: Headers): Headers {
  const headers: Record<string, string> = { ...own }
  for (const name in extra) {
    const value = extra[name] as string
    const varies = name === "vary" ? headers[name] : undefined
    headers[name] = varies === undefined ? value : `${varies}, ${value}`
  }
  return headers
}

/** Adds a callback for the end of an answer's stream. */
export function whenStreamed(answer: HTTPAnswer, over: () => void): HTTPAnswer {
  const body = answer.body as HTTPStream & Partial<Pick<Endable, "whenOver">>
  if (body.whenOver !== undefined) {
    body.whenOver(over)
    return answer
  }
  return {
    status: answer.status,
    headers: answer.headers,
    body: {
      async run(sink) {
        try {
          await body.run(sink)
        } finally {
          over()
        }
      },
    },
  }
}

/** A stream that notifies of its end. */
export interface Endable {
  whenOver(listener: () => void): void
}
