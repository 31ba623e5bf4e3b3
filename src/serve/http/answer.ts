// Answers of the API: results, streams and problems.

import { unwrapOrThrow, type ResponseEnvelope } from "../../core/envelope.ts"
import { encodeEnvelope, encodeValue } from "./lazy-codec.ts"
import { isCallError } from "../../core/errors.ts"
import { mapError } from "../../core/map-error.ts"
import { problemOf, retryAfterOf, type HTTPProblem } from "../../core/problem.ts"
import type { OperationSpec } from "../../core/types.ts"
import type { Logger } from "../../internal/logger.ts"
import { isFileLike } from "../../schema/files.ts"
import type { HTTPAnswer, HTTPHeaders, HTTPStream } from "../exchange.ts"
import { HTTPRefusal } from "./context.ts"
import type { EventStream } from "./sse.ts"

/** HTTPHeaders of every answer. The policy keeps what a browser shows from running scripts in this origin. */
export const COMMON_HEADERS: HTTPHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "sandbox; default-src 'none'",
  "x-content-type-options": "nosniff",
}

const JSON_HEADERS: HTTPHeaders = { "content-type": "application/json", ...COMMON_HEADERS }
const STREAM_HEADERS: HTTPHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  ...COMMON_HEADERS,
  // Buffering proxies would hold events back.
  "x-accel-buffering": "no",
}
const LINES_HEADERS: HTTPHeaders = { ...STREAM_HEADERS, "content-type": "application/x-ndjson" }

/** A 204. */
const EMPTY: HTTPAnswer = { status: 204, headers: COMMON_HEADERS }

/** A 200 with JSON text. */
export function jsonAnswer(text: string, extra?: HTTPHeaders): HTTPAnswer {
  const headers = extra === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...extra }
  return { status: 200, headers, body: text }
}

/** A 200 with server-sent events. */
export function streamAnswer(body: HTTPStream): HTTPAnswer {
  return { status: 200, headers: STREAM_HEADERS, body }
}

/** A 200 with one JSON value per line. */
export function linesAnswer(body: HTTPStream | string): HTTPAnswer {
  return { status: 200, headers: LINES_HEADERS, body }
}

/** Adds headers to an answer; `vary` is extended. */
export function withHeaders(answer: HTTPAnswer, extra: HTTPHeaders): HTTPAnswer {
  const { status, headers, body } = answer
  if (headers !== JSON_HEADERS) return { status, headers: merged(headers, extra), body }
  // Cached: nearly every answer has the same few combinations.
  let cached = usual.get(extra)
  if (cached === undefined) usual.set(extra, (cached = merged(headers, extra)))
  return { status, headers: cached, body }
}

const usual = new WeakMap<HTTPHeaders, HTTPHeaders>()

function merged(own: HTTPHeaders, extra: HTTPHeaders): HTTPHeaders {
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
  const body = answer.body as HTTPStream & Partial<Pick<EventStream, "whenOver">>
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

/** An envelope as JSON. Throws `NotReady` for the first one with bytes or files. */
export function envelopeText(envelope: ResponseEnvelope): string {
  const meta = localMetaText(envelope)
  if (meta === undefined) return JSON.stringify(encodeEnvelope(envelope))
  const { value, binary } = encodeValue(envelope.data)
  const data = JSON.stringify(value) as string | undefined
  // A value without JSON, such as `undefined`, is left out.
  if (data === undefined) return `{"meta":${meta}}`
  if (binary === undefined) return `{"data":${data},"meta":${meta}}`
  return `{"data":${data},"meta":${meta},"binary":${JSON.stringify(binary)}}`
}

/** Metadata of a local result, written by hand: `JSON.stringify` takes longer for it than for most data. */
function localMetaText({ meta }: ResponseEnvelope): string | undefined {
  if (meta.source !== "local") return undefined
  const { operationId, timestamp } = meta
  for (const key in meta) {
    if (key !== "source" && key !== "operationId" && key !== "timestamp") return undefined
  }
  if (operationId === lastId && timestamp === lastTime) return lastText
  if (typeof operationId !== "string" || !Number.isFinite(timestamp)) return undefined
  const id = JSON.stringify(operationId)
  lastId = operationId
  lastTime = timestamp
  lastText = `{"source":"local","operationId":${id},"timestamp":${timestamp}}`
  return lastText
}

// Cached: stream items come from one operation, many of them within a millisecond.
let lastId: string | undefined
let lastTime: number | undefined
let lastText = ""

/** The data of an envelope as JSON; `undefined` when there is none. Throws when a tool reports a failure. */
function dataText(envelope: ResponseEnvelope): string | undefined {
  const data = unwrapOrThrow(envelope)
  if (data === undefined) return undefined
  return JSON.stringify(encodeValue(data).value)
}

/** The JSON of a stream item without its envelope. */
export function itemText(envelope: ResponseEnvelope): string {
  return dataText(envelope) ?? "null"
}

/** An answer with data without its envelope: a file, JSON, or a 204 when there is none. */
export function dataAnswer(
  { logger }: { readonly logger: Logger },
  envelope: ResponseEnvelope,
  { outputSchema }: OperationSpec,
  headers?: HTTPHeaders,
): HTTPAnswer | Promise<HTTPAnswer> {
  const { data } = envelope
  if (isFileLike(data) || data instanceof Uint8Array || data instanceof ArrayBuffer) {
    return import("./files/download.ts").then(({ fileAnswer }) =>
      fileAnswer(envelope, outputSchema, logger, { ...COMMON_HEADERS, ...headers }),
    )
  }
  const text = dataText(envelope)
  return text === undefined ? EMPTY : jsonAnswer(text, headers)
}

/** The media type of a problem. */
export const PROBLEM_TYPE = "application/problem+json"

/** Converts a thrown value to a problem for clients: no stack, no cause, no secrets. Never throws. */
export function toProblem(thrown: unknown, spec?: OperationSpec, requestId?: string): HTTPProblem {
  const error = isCallError(thrown) ? thrown : mapError(thrown)
  const status = error instanceof HTTPRefusal ? error.status : undefined
  return problemOf(error, spec, requestId, status)
}

/** Converts a thrown value to a problem response. An `HTTPRefusal` has its own status and headers. */
export function problemAnswer(
  thrown: unknown,
  spec?: OperationSpec,
  requestId?: string,
): HTTPAnswer {
  const problem = toProblem(thrown, spec, requestId)
  return {
    status: problem.status,
    headers: {
      ...COMMON_HEADERS,
      "content-type": PROBLEM_TYPE,
      ...retryAfterOf(problem),
      ...(thrown instanceof HTTPRefusal && thrown.headers),
    },
    body: JSON.stringify(problem),
  }
}
