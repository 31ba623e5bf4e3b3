// Bodies of Node's requests, which other code may have read and parsed.

import { CallError, refusal } from "../core/errors.ts"
import type { NodeRequestLike, NodeResponseLike } from "./node-types.ts"
import { bodyGone, decodeBody, type RequestSlot } from "./read-body.ts"

/**
 * Reads the body of a Node request as text; `undefined` when it is longer than `maxBytes`.
 *
 * If other code has read the body, it is taken from `provided`, or from the parsed body on the request.
 * Rejects when it is in neither place.
 */
export function readNodeBody(
  request: NodeRequestLike,
  maxBytes: number,
  provided?: unknown,
  slot?: RequestSlot,
): Promise<string | undefined> {
  const { headers } = request
  const declared = headers["content-length"]
  if (declared === undefined) {
    // Without these there is no body, except in HTTP/2, which needs neither.
    const isFramed = headers["transfer-encoding"] !== undefined || headers[":method"] !== undefined
    if (!isFramed) return NO_BODY
  } else if (declared === "0") return NO_BODY
  const length = declared === undefined ? undefined : Number(declared)
  if (length !== undefined && length > maxBytes) return Promise.resolve(undefined)
  if (isBody(provided)) return take(provided, length, maxBytes)
  if (request.readableEnded === true || request.readableDidRead === true) {
    return take(request.body, length, maxBytes)
  }
  if (request.destroyed === true) return Promise.reject(cutOff())
  return collect(request, maxBytes, slot)
}

const NO_BODY: Promise<string> = /* @__PURE__ */ Promise.resolve("")

/** Whether an argument is a body: Express passes `next` in its place. */
function isBody(provided: unknown): boolean {
  return provided !== undefined && typeof provided !== "function"
}

async function take(
  body: unknown,
  length: number | undefined,
  maxBytes: number,
): Promise<string | undefined> {
  if (!isBody(body)) throw bodyGone(NODE_MOUNT)
  const text = providedText(body, length)
  return byteLength(text) > maxBytes ? undefined : text
}

/** Collects the text of a stream. Its listeners are removed with the request. */
function collect(
  request: NodeRequestLike,
  maxBytes: number,
  slot: RequestSlot | undefined,
): Promise<string | undefined> {
  slot?.pause()
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    request.on("data", (chunk) => {
      size += chunk.byteLength
      if (size <= maxBytes) {
        chunks.push(chunk)
        return
      }
      // The rest is read and dropped, so that the client can read the answer.
      chunks.length = 0
      resolve(undefined)
    })
    request.on("end", () => {
      const full = size <= maxBytes ? slot?.resume() : undefined
      try {
        if (full === undefined) resolve(decodeBody(chunks))
        else reject(full)
      } catch (error) {
        reject(error)
      }
    })
    // No effect after "end".
    request.on("close", () => {
      if (request.readableEnded !== true) reject(cutOff())
    })
    // Without a listener a connection error would end the process.
    request.on("error", () => reject(cutOff()))
  })
}

/** The error of a body that did not arrive as a whole. */
function cutOff(): CallError {
  return new CallError("ABORTED", "The request was not completed.")
}

const HIGH_WATER = 64 * 1024

/**
 * Opens the body of a Node request as a stream that arrives as fast as it is read.
 *
 * If other code has read the body, `provided` or the parsed body on the request may have its bytes. What is left when
 * the response has been sent is dropped, so that the connection can be used again.
 */
export function openNodeBody(
  request: NodeRequestLike,
  response: NodeResponseLike,
  provided: unknown,
): ReadableStream<Uint8Array> {
  const isRead = request.readableEnded === true || request.readableDidRead === true
  const parsed = isBody(provided) ? provided : isRead ? request.body : undefined
  if (parsed instanceof Uint8Array) {
    return new Response(parsed as BodyInit).body as ReadableStream<Uint8Array>
  }
  if (isRead || parsed !== undefined) throw bodyGone(NODE_MOUNT)
  if (request.destroyed === true) throw cutOff()
  let isOver = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = (finish: () => void): void => {
          if (isOver) return
          isOver = true
          finish()
        }
        const fail = (): void => end(() => controller.error(cutOff()))
        request.on("data", (chunk) => {
          if (isOver) return
          controller.enqueue(chunk)
          if ((controller.desiredSize ?? 0) <= 0) request.pause?.()
        })
        request.on("end", () => end(() => controller.close()))
        request.on("close", fail)
        // Without a listener a connection error would end the process.
        request.on("error", fail)
        response.once("finish", () => {
          fail()
          request.resume()
        })
      },
      pull: () => void request.resume(),
      cancel() {
        isOver = true
        request.resume()
      },
    },
    { highWaterMark: HIGH_WATER, size: (chunk) => chunk?.byteLength ?? 0 },
  )
}

/**
 * The text of a body that a framework has read and parsed to an object, a string or bytes.
 *
 * `length` is the declared length of the body, `undefined` when it was not declared. Throws when the
 * value cannot be the body: a call must never run with an input that was not sent.
 */
function providedText(body: unknown, length: number | undefined): string {
  if (typeof body === "string") {
    // A parsed JSON string is always shorter than its JSON text, by its quotes at least.
    return length !== undefined && byteLength(body) < length ? JSON.stringify(body) : body
  }
  if (body instanceof Uint8Array) return decodeBody([body])
  if (!isData(body) || isPlaceholder(body, length)) throw bodyGone(NODE_MOUNT)
  return stringify(body)
}

const encoder = /* @__PURE__ */ new TextEncoder()

// The platform's own count takes a tenth of the time.
const { Buffer: platform } = globalThis as {
  readonly Buffer?: { byteLength(text: string): number } | undefined
}

/** Bytes of a body in UTF-8. */
export function byteLength(body: string | Uint8Array | undefined): number {
  if (body === undefined) return 0
  if (typeof body !== "string") return body.byteLength
  return platform === undefined ? encoder.encode(body).length : platform.byteLength(body)
}

/** Advice for a body that other code has read, in a Node framework. */
const NODE_MOUNT =
  "Mount the handler before body parsers, or pass it what they parsed: " +
  "node(request, response, { body }); in Fastify node(request.raw, reply.raw, { body: request.body })."

/** Whether a value is plain data. Others, such as forms and streams, would become `{}` in JSON. */
function isData(value: unknown): boolean {
  if (typeof value !== "object") return typeof value === "number" || typeof value === "boolean"
  if (value === null || Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

// `{"a":1}` is the shortest non-empty object.
const MIN_LENGTH = 7

/** Some parsers leave `{}` where they have parsed nothing. */
function isPlaceholder(body: unknown, length: number | undefined): boolean {
  if (length === undefined || length < MIN_LENGTH) return false
  return typeof body === "object" && body !== null && Object.keys(body).length === 0
}

function stringify(body: unknown): string {
  try {
    const text = JSON.stringify(body) as string | undefined
    if (text !== undefined) return text
  } catch (error) {
    if (error instanceof RangeError) {
      throw refusal("VALIDATION_ERROR", "The JSON of the body is nested too deep.")
    }
  }
  throw bodyGone(NODE_MOUNT)
}
