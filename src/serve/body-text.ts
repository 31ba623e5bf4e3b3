import { refusal } from "../core/errors.ts"
import type { CallError } from "../core/errors.ts"

/**
 * The text of a body that a framework has read and parsed to an object, a string or bytes.
 *
 * `length` is the declared length of the body, `undefined` when it was not declared. Throws when the
 * value cannot be the body: a call must never run with an input that was not sent.
 */
export function providedText(body: unknown, length: number | undefined): string {
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

/** The text of a body. Bytes other than UTF-8 are refused instead of replaced. */
export function decodeBody(chunks: readonly Uint8Array[]): string {
  try {
    const [only] = chunks
    if (chunks.length <= 1) return only === undefined ? "" : STRICT.decode(only)
    const decoder = new TextDecoder("utf-8", { fatal: true })
    let text = ""
    for (const chunk of chunks) text += decoder.decode(chunk, { stream: true })
    return text + decoder.decode()
  } catch {
    throw refusal("VALIDATION_ERROR", "The body is not UTF-8.")
  }
}

const STRICT = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true })

/** Advice for a body that other code has read, in a Node framework. */
export const NODE_MOUNT: string =
  "Mount the handler before body parsers, or pass it what they parsed as the third argument: " +
  "node(request, response, body); in Fastify node(request.raw, reply.raw, request.body)."

/** The same for web requests. */
export const WEB_MOUNT: string =
  "Pass the request before its body is read, give other code request.clone(), or pass " +
  "new Request(request, { body }) with the text of the body."

/** The error for a body that is no longer available, which is the server's mistake. */
export function bodyGone(advice: string): CallError {
  return refusal(
    "EXECUTION_ERROR",
    "The call was not run: other code has read the request body, and it is no longer available. " +
      advice,
    { mayHaveExecuted: false, retryable: false },
  )
}

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
