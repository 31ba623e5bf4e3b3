import { changedError } from "../core/error-changes.ts"
import { CallError, isCallError } from "../core/errors.ts"
import { cutText } from "../internal/message-text.ts"
import { joinBytes } from "../schema/files.ts"
import { discard, readChunks, type HttpResponse } from "./exchange.ts"
import { decodeIfText, decodeText, excerpt } from "./decode.ts"
import { originOf } from "./egress.ts"
import type { RequestContext } from "./request-errors.ts"
import { parseJson, type ParsedJson } from "./json.ts"
import { isJson, isText, parseMediaType } from "./media-type.ts"
import { isRepeatable, isSafeMethod } from "./request.ts"
import { maskSecrets } from "./secrets.ts"

/** How a body is read. */
export interface ReadBodyOptions extends Omit<RequestContext, "origin" | "mayHaveEffect"> {
  readonly secrets: readonly string[]
  /** The method of the request: the response to HEAD has no body. */
  readonly method: string
  /** Default: by the method. */
  readonly mayHaveEffect?: boolean | undefined
  /** Maximum size after decompression; 10 MiB. */
  readonly maxBytes?: number | undefined
  /** Cut the body at the limit instead of throwing. */
  readonly truncate?: boolean | undefined
  /** `text`: integers beyond 2^53 become strings. */
  readonly bigint?: "text" | undefined
  /** The body is a file: its bytes are the result, whatever its content type, and even if there are none. */
  readonly isFile?: boolean | undefined
}

/** A body, parsed by its content type. */
export interface ReadBody {
  /** A JSON value, a text, a `Uint8Array`, or `undefined` when there is no body. */
  readonly data: unknown
  /** A mismatch between the body and its headers, or lost digits. */
  readonly warning?: string
}

const MAX_BYTES = 10 * 1024 * 1024
/** Maximum number of characters of an invalid response in its error. */
const MAX_QUOTED = 16 * 1024
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
  if (options.isFile === true) return { data: bytes }
  if (bytes.length === 0) return { data: undefined }
  return interpret(bytes, response, isCut, options)
}

function interpret(
  bytes: Uint8Array,
  { contentType, status }: HttpResponse,
  isCut: boolean,
  options: ReadBodyOptions,
): ReadBody {
  // The content type is missing or invalid.
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
      // For a failed response, a truncated body is better than none.
      if (parsed.isTruncated && options.truncate !== true)
        throw truncatedError(text, status, options)
      return {
        data: text,
        warning:
          `The answer${nameOf(options)} is declared as JSON but is ${parsed.reason}; it is ` +
          `returned as text. It begins: ${excerpt(text, 200)}`,
      }
    case "too-deep":
      throw tooLarge(`is JSON nested deeper than ${parsed.limit} levels.`, options)
  }
}

function valueOf(
  { value, bigIntegers }: Extract<ParsedJson, { is: "value" }>,
  options: ReadBodyOptions,
): ReadBody {
  if (bigIntegers === undefined || options.bigint === "text") return { data: value }
  return {
    data: value,
    warning: `The response${nameOf(options)} ${lostDigitsMessage(bigIntegers)}`,
  }
}

/** The end of a warning about integers that a JavaScript number cannot represent. */
export function lostDigitsMessage(integers: readonly string[]): string {
  const many = integers.length === 1 ? "an integer" : `${integers.length} integers`
  return (
    `has ${many} beyond 2^53, such as ${excerpt(integers[0] ?? "", 40)}, whose last digits are lost in a ` +
    `JavaScript number. Set bigint: "text" to get them as strings.`
  )
}

/** The error for truncated JSON: the server processed the request, but a part of the response is missing. */
function truncatedError(text: string, statusCode: number, options: ReadBodyOptions): CallError {
  const { mayHaveEffect } = contextOf(options)
  return new CallError(
    "DATA_LOSS",
    `The response${nameOf(options)} is JSON that ends in the middle, after ${text.length} characters: ` +
      `a part of it is missing. It begins: ${excerpt(text, 200)}`,
    {
      operationId: options.operationId,
      details: { statusCode, reason: "truncated", body: cutText(text, MAX_QUOTED) },
      mayHaveExecuted: true,
      retryable: isRepeatable(options.method, mayHaveEffect),
    },
  )
}

/** Parses a body without a content type: JSON if valid, else text if valid UTF-8, else bytes. */
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
  // The compressed length says nothing about the length of the content.
  const isEncoded = response.headers["content-encoding"] !== undefined
  if (!truncate && announced > maxBytes && !isEncoded) {
    discard(response)
    throw overLimit(maxBytes, options)
  }
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of readChunks(body, contextOf(options, response.url))) {
      if (length + chunk.length > maxBytes) {
        if (!truncate) throw overLimit(maxBytes, options)
        chunks.push(chunk.subarray(0, maxBytes - length))
        return { bytes: joinBytes(chunks, maxBytes), isCut: true }
      }
      chunks.push(chunk)
      length += chunk.length
    }
  } catch (thrown) {
    throw isEncoded ? thrown : withMissingBytes(thrown, announced, length)
  }
  return { bytes: joinBytes(chunks, length), isCut: false }
}

/** Adds the number of missing bytes to the error of a connection that closed early. */
function withMissingBytes(thrown: unknown, announced: number, length: number): unknown {
  if (!isCallError(thrown, "UNAVAILABLE") || !(length < announced)) return thrown
  const { message, details } = thrown
  if ((details as { reason?: unknown } | undefined)?.reason !== "closed") return thrown
  return changedError(thrown, {
    message: `${message} It received ${length} of ${announced} announced bytes.`,
    cause: thrown,
    details: { ...(details as object), reason: "length" },
  })
}

function overLimit(limit: number, options: ReadBodyOptions): CallError {
  const issue = `is larger than ${limit} bytes and was not read to its end. Ask for less, or raise "maxResponseBytes".`
  return tooLarge(issue, options)
}

function tooLarge(issue: string, options: ReadBodyOptions): CallError {
  const { operationId } = options
  const mayHaveExecuted = contextOf(options).mayHaveEffect
  const message = `The answer${nameOf(options)} ${issue}`
  return new CallError("PAYLOAD_TOO_LARGE", message, { operationId, mayHaveExecuted })
}

function nameOf({ operationId }: ReadBodyOptions): string {
  return operationId === undefined ? "" : ` to "${operationId}"`
}

function contextOf(options: ReadBodyOptions, url?: string): RequestContext {
  const { mayHaveEffect = !isSafeMethod(options.method) } = options
  return { ...options, mayHaveEffect, origin: url === undefined ? undefined : originOf(url) }
}
