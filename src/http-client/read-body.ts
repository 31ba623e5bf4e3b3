import { CallError, isCallError } from "../core/errors.ts"
import { readChunks } from "./chunks.ts"
import { cutText, decodeIfText, decodeText, excerpt } from "./decode.ts"
import { originOf } from "./egress.ts"
import { discard } from "./exchange.ts"
import type { HttpResponse } from "./exchange.ts"
import type { RequestContext } from "./failure.ts"
import { parseJson } from "./json.ts"
import type { ParsedJson } from "./json.ts"
import { isJson, isText, parseMediaType } from "./media-type.ts"
import { isRepeatable, isSafeMethod } from "./repeat.ts"
import { maskSecrets } from "./secrets.ts"

/** How a body is read. */
export interface ReadBodyOptions {
  readonly signal: AbortSignal
  readonly secrets: readonly string[]
  /** Of the request: a HEAD has no body. */
  readonly method: string
  /** Counted after decompression; 10 MiB. */
  readonly maxBytes?: number | undefined
  /** What is over the limit is left out instead of being an error. */
  readonly truncate?: boolean | undefined
  readonly operationId?: string | undefined
  /** Default: by the method. */
  readonly mayHaveEffect?: boolean | undefined
  /** How messages begin; `The request of "…"` when left out. */
  readonly subject?: string | undefined
  /** `text`: integers beyond 2^53 are given as strings. */
  readonly bigint?: "text" | undefined
}

/** A body, as what its content type says it is. */
export interface ReadBody {
  /** A JSON value, a text, a `Uint8Array`, or `undefined` when there is no body. */
  readonly data: unknown
  /** What is not as the response says. */
  readonly warning?: string
}

const MAX_BYTES = 10 * 1024 * 1024
/** Characters of a broken response that its error shows. */
const MAX_SHOWN = 16 * 1024
const EMPTY = new Set([204, 205, 304])

/** Reads a body to its end, up to a limit; at the limit the connection is closed. */
export async function readBody(
  response: HttpResponse,
  options: ReadBodyOptions,
): Promise<ReadBody> {
  const { body, status } = response
  if (body === null) return { data: undefined }
  if (options.method === "HEAD" || EMPTY.has(status)) {
    discard(response)
    return { data: undefined }
  }
  const { bytes, isCut } = await readBytes(response, body, options)
  if (bytes.length === 0) return { data: undefined }
  return interpret(bytes, response, isCut, options)
}

function interpret(
  bytes: Uint8Array,
  { contentType, status }: HttpResponse,
  isCut: boolean,
  options: ReadBodyOptions,
): ReadBody {
  // Nothing, or something that is no content type at all.
  if (parseMediaType(contentType) === undefined) return guess(bytes, options)
  if (isJson(contentType)) {
    const text = maskSecrets(decodeText(bytes, contentType), options.secrets)
    return isCut ? { data: text } : asJson(text, status, options)
  }
  if (!isText(contentType)) return { data: bytes }
  return { data: maskSecrets(decodeText(bytes, contentType), options.secrets) }
}

function asJson(text: string, status: number, options: ReadBodyOptions): ReadBody {
  if (text.trim() === "") return { data: undefined }
  const parsed = parseJson(text, options)
  switch (parsed.is) {
    case "value":
      return valueOf(parsed, options)
    case "broken":
      // Of a failure, whatever came is better than nothing.
      if (parsed.isTruncated && options.truncate !== true) throw truncated(text, status, options)
      return {
        data: text,
        warning:
          `The answer${nameOf(options)} says that it is JSON, and is ${parsed.reason}; its text is ` +
          `given as it came. It begins: ${excerpt(text, 200)}`,
      }
    case "too-deep":
      throw new CallError(
        "PAYLOAD_TOO_LARGE",
        `The answer${nameOf(options)} is JSON nested deeper than ${parsed.limit} levels.`,
        { operationId: options.operationId, mayHaveExecuted: contextOf(options).mayHaveEffect },
      )
  }
}

function valueOf(
  { value, bigIntegers }: Extract<ParsedJson, { is: "value" }>,
  options: ReadBodyOptions,
): ReadBody {
  if (bigIntegers === undefined || options.bigint === "text") return { data: value }
  return { data: value, warning: `The response${nameOf(options)} ${lostDigits(bigIntegers)}` }
}

/** What becomes of integers that a JavaScript number cannot hold, as the end of a sentence. */
export function lostDigits(integers: readonly string[]): string {
  const many = integers.length === 1 ? "an integer" : `${integers.length} integers`
  return (
    `has ${many} beyond 2^53, such as ${excerpt(integers[0] ?? "", 40)}, whose last digits are lost in a ` +
    `JavaScript number. With bigint: "text" they are given as strings.`
  )
}

/** The error for JSON that ends in the middle: the server did its work, and a part of the answer is missing. */
function truncated(text: string, statusCode: number, options: ReadBodyOptions): CallError {
  const { mayHaveEffect } = contextOf(options)
  return new CallError(
    "DATA_LOSS",
    `The response${nameOf(options)} is JSON that ends in the middle, after ${text.length} characters: ` +
      `a part of it is missing. It begins: ${excerpt(text, 200)}`,
    {
      operationId: options.operationId,
      details: { statusCode, reason: "truncated", body: cutText(text, MAX_SHOWN) },
      mayHaveExecuted: true,
      retryable: isRepeatable(options.method, mayHaveEffect),
    },
  )
}

/** Without a content type: JSON if it is, else text if it can be, else bytes. */
function guess(bytes: Uint8Array, options: ReadBodyOptions): ReadBody {
  const plain = decodeIfText(bytes)
  if (plain === undefined) return { data: bytes }
  const text = maskSecrets(plain, options.secrets)
  const parsed = parseJson(text, options)
  return parsed.is === "value" ? valueOf(parsed, options) : { data: text }
}

async function readBytes(
  response: HttpResponse,
  body: ReadableStream<Uint8Array>,
  options: ReadBodyOptions,
): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  const { maxBytes = MAX_BYTES, truncate = false } = options
  const announced = Number(response.headers["content-length"] ?? Number.NaN)
  // The length of compressed bytes says nothing about the text they hold.
  const isEncoded = response.headers["content-encoding"] !== undefined
  if (!truncate && announced > maxBytes && !isEncoded) {
    discard(response)
    throw tooLarge(maxBytes, options)
  }
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of readChunks(body, contextOf(options, response.url))) {
      if (length + chunk.length > maxBytes) {
        if (!truncate) throw tooLarge(maxBytes, options)
        chunks.push(chunk.subarray(0, maxBytes - length))
        return { bytes: joined(chunks, maxBytes), isCut: true }
      }
      chunks.push(chunk)
      length += chunk.length
    }
  } catch (thrown) {
    throw isEncoded ? thrown : cutShort(thrown, announced, length)
  }
  return { bytes: joined(chunks, length), isCut: false }
}

/** A connection that was closed before the announced length: the error says how much is missing. */
function cutShort(thrown: unknown, announced: number, length: number): unknown {
  if (!isCallError(thrown, "UNAVAILABLE") || !(length < announced)) return thrown
  const { message, details } = thrown
  if ((details as { reason?: unknown } | undefined)?.reason !== "closed") return thrown
  return new CallError(
    "UNAVAILABLE",
    `${message} Of ${announced} announced bytes ${length} came.`,
    {
      cause: thrown,
      details: { ...(details as object), reason: "length" },
      operationId: thrown.operationId,
      retryable: thrown.retryable,
      mayHaveExecuted: thrown.mayHaveExecuted,
    },
  )
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

function tooLarge(limit: number, options: ReadBodyOptions): CallError {
  return new CallError(
    "PAYLOAD_TOO_LARGE",
    `The answer${nameOf(options)} is larger than ${limit} bytes and was not read to its end. ` +
      `Ask for less, or raise "maxResponseBytes".`,
    { operationId: options.operationId, mayHaveExecuted: contextOf(options).mayHaveEffect },
  )
}

function nameOf({ operationId }: ReadBodyOptions): string {
  return operationId === undefined ? "" : ` to "${operationId}"`
}

function contextOf(options: ReadBodyOptions, url?: string): RequestContext {
  const { mayHaveEffect = !isSafeMethod(options.method) } = options
  return { ...options, mayHaveEffect, origin: url === undefined ? undefined : originOf(url) }
}
