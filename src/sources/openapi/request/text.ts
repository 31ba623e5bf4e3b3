import { ErrorCode, refusal, type CallError } from "../../../core/errors.ts"

/** A value that cannot be sent; its message continues after the value's name. */
export class Unwritable extends Error {
  static {
    this.prototype.name = "Unwritable"
  }
}

/** The error for an invalid input. */
export function invalidInputError(id: string, issue: string): CallError {
  return refusal(ErrorCode.VALIDATION_ERROR, `Input for "${id}" is invalid: ${issue}.`, {
    operationId: id,
  })
}

/** The error for an unusable document or setting. */
export function unusableError(id: string, issue: string): CallError {
  return refusal(ErrorCode.VALIDATION_ERROR, `Operation "${id}" cannot be sent: ${issue}.`, {
    operationId: id,
  })
}

/** Runs `write`; adds the name of a field to the message of an `Unwritable` value. */
export function withFieldName<T>(name: string, write: () => T): T {
  try {
    return write()
  } catch (thrown) {
    if (thrown instanceof Unwritable) throw new Unwritable(`at /${name} ${thrown.message}`)
    throw thrown
  }
}

/** Runs `write`; reports an `Unwritable` value under the name `what`. */
export function withValueName<T>(id: string, what: string, write: () => T): T {
  try {
    return write()
  } catch (thrown) {
    if (thrown instanceof Unwritable) throw invalidInputError(id, `${what} ${thrown.message}`)
    throw thrown
  }
}

/** The shape of a value for serialization; `none` is left out of the request. */
export type Shape =
  | { readonly kind: "none" }
  | { readonly kind: "scalar"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly unknown[] }
  | { readonly kind: "record"; readonly entries: readonly (readonly [string, unknown])[] }

const NONE: Shape = { kind: "none" }

/** Reserved characters that are allowed in a path value with `allowReserved`. */
export const PATH_RESERVED = "/:@!$&'()*+,;="

/**
 * Reserved characters that are allowed in a query value with `allowReserved`.
 *
 * `#` would end the query, `&` would start another parameter, and `+` would be read as a space.
 */
export const QUERY_RESERVED = "/?:@[]!$'()*,;="

/** Percent-encodes everything but RFC 3986's unreserved characters. */
export function encodeStrict(text: string): string {
  try {
    return encodeURIComponent(text).replace(/[!'()*]/g, percent)
  } catch {
    throw new Unwritable("contains half of a surrogate pair, which UTF-8 cannot encode")
  }
}

/** Percent-encodes all but unreserved characters, those in `kept`, and existing triplets. */
export function encodeKeeping(text: string, kept: string): string {
  // Without the flag `i`: with `u`, `ſ` would match `s`, and the Kelvin sign `k`.
  return text.replace(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~]/gu, (piece) =>
    piece.length === 3 || kept.includes(piece) ? piece : encodeStrict(piece),
  )
}

/** Encodes as `application/x-www-form-urlencoded` does: a space is `+`, and `*` stays. */
export function encodeForm(text: string): string {
  return encodeStrict(text).replaceAll("%20", "+").replaceAll("%2A", "*").replaceAll("~", "%7E")
}

/** Determines the shape of a value; throws `Unwritable` if it has no text. */
export function shapeOf(value: unknown): Shape {
  switch (typeof value) {
    case "string":
      return { kind: "scalar", text: value }
    case "boolean":
    case "bigint":
      return { kind: "scalar", text: String(value) }
    case "number":
      if (!Number.isFinite(value)) throw new Unwritable(`is ${value}, which cannot be sent`)
      return { kind: "scalar", text: String(value) }
    case "undefined":
      return NONE
    case "object":
      return value === null ? NONE : shapeOfObject(value)
    default:
      throw new Unwritable(`is a ${typeof value}, which has no text`)
  }
}

/** A stream of bytes that can be read once. */
export type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<unknown>

/** Raw bytes in any of the platform's types. */
export type Bytes = Uint8Array | ArrayBuffer | ArrayBufferView | Blob | ByteStream

/** Whether a value is raw bytes. */
export function isBytes(value: unknown): value is Bytes {
  return (
    value instanceof Blob ||
    value instanceof ArrayBuffer ||
    ArrayBuffer.isView(value) ||
    isByteStream(value)
  )
}

/** Whether a value is a byte stream: a web stream, a Node stream, an async generator. */
export function isByteStream(value: unknown): value is ByteStream {
  if (value instanceof ReadableStream) return true
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function"
  )
}

function shapeOfObject(value: object): Shape {
  if (Array.isArray(value)) {
    return { kind: "list", items: value.filter((item) => item !== undefined && item !== null) }
  }
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new Unwritable("is an invalid Date")
    return { kind: "scalar", text: value.toISOString() }
  }
  if (isBytes(value)) throw new Unwritable("is raw bytes, which only a body can carry")
  if (value instanceof Map || value instanceof Set) {
    throw new Unwritable("is a Map or a Set; pass a plain object or a list")
  }
  const plain = value as { toJSON?: unknown }
  if (typeof plain.toJSON === "function") {
    const own: unknown = plain.toJSON()
    if (typeof own !== "object" || Array.isArray(own)) return shapeOf(own)
    return own === null ? NONE : recordOf(own)
  }
  return recordOf(value)
}

function recordOf(value: object): Shape {
  const entries = Object.entries(value).filter(([, item]) => item !== undefined && item !== null)
  return { kind: "record", entries }
}

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`
}
