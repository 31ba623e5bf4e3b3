import { dispositionParameters, safeFileName } from "../../../internal/file-names.ts"
import { refusal, type CallError } from "../../../core/errors.ts"

/** Headers of a part are short: a name, a file name, a type. */
const MAX_HEAD = 16 * 1024
const MAX_PARTS = 1000

const CR = 13
const CRLF = new Uint8Array([CR, 10])
const HEAD_END = new Uint8Array([CR, 10, CR, 10])

/** Bytes that arrive one after the other. */
export interface ByteReader {
  /** The next chunk; `undefined` at the end. */
  read(): Promise<Uint8Array | undefined>
  /** Drops the rest. */
  cancel(): void
}

/** A part of a form. Its body is read before the next part, and dropped otherwise. */
export interface Part {
  readonly name: string
  /** Safe to use as the name of a file; `undefined` for a field that is not a file. */
  readonly fileName: string | undefined
  readonly isFile: boolean
  /** Its content type, as sent; empty when there is none. */
  readonly type: string
}

/**
 * Reads `multipart/form-data` part by part, without holding more than a chunk.
 *
 * Everything in it is untrusted. Rejects with `VALIDATION_ERROR` when it is malformed or cut off.
 */
export class MultipartReader implements ByteReader {
  readonly #body: ByteReader
  readonly #delimiter: Uint8Array
  // The first delimiter may be at the very start, where no line ends before it.
  #buffer: Uint8Array = CRLF
  #parts = 0
  #isInBody = true
  #isOver = false

  constructor(body: ByteReader, boundary: string) {
    this.#body = body
    this.#delimiter = new TextEncoder().encode(`\r\n--${boundary}`)
  }

  /** The next part; `undefined` after the last. */
  async next(): Promise<Part | undefined> {
    while (this.#isInBody) await this.read()
    if (this.#isOver) return undefined
    await this.#fill(2)
    if (this.#buffer[0] === 0x2d && this.#buffer[1] === 0x2d) {
      this.#isOver = true
      return undefined
    }
    if (++this.#parts > MAX_PARTS) throw malformed(`it has more than ${MAX_PARTS} parts`)
    const part = partOf(await this.#head())
    this.#isInBody = true
    return part
  }

  /** The next chunk of the body of a part; `undefined` at its end. */
  async read(): Promise<Uint8Array | undefined> {
    while (this.#isInBody) {
      const at = find(this.#buffer, this.#delimiter)
      if (at >= 0) {
        const last = this.#buffer.subarray(0, at)
        this.#buffer = this.#buffer.subarray(at + this.#delimiter.length)
        this.#isInBody = false
        if (last.length > 0) return last
        break
      }
      // The end of the buffer may be the start of a delimiter.
      const safe = this.#buffer.length - this.#delimiter.length + 1
      if (safe > 0) {
        const chunk = this.#buffer.subarray(0, safe)
        this.#buffer = this.#buffer.subarray(safe)
        return chunk
      }
      await this.#more()
    }
    return undefined
  }

  cancel(): void {
    this.#isOver = true
    this.#isInBody = false
    this.#body.cancel()
  }

  async #head(): Promise<Uint8Array> {
    // A part without headers has an empty line at once.
    for (;;) {
      const at = find(this.#buffer, HEAD_END)
      if (at > MAX_HEAD || (at < 0 && this.#buffer.length > MAX_HEAD)) {
        throw malformed("the headers of a part are too long")
      }
      if (at >= 0) {
        const head = this.#buffer.subarray(0, at)
        this.#buffer = this.#buffer.subarray(at + HEAD_END.length)
        return head
      }
      await this.#more()
    }
  }

  async #fill(length: number): Promise<void> {
    while (this.#buffer.length < length) await this.#more()
  }

  async #more(): Promise<void> {
    const value = await this.#body.read()
    if (value === undefined) throw malformed("it ends before its last boundary")
    if (this.#buffer.length === 0) {
      this.#buffer = value
      return
    }
    const joined = new Uint8Array(this.#buffer.length + value.length)
    joined.set(this.#buffer)
    joined.set(value, this.#buffer.length)
    this.#buffer = joined
  }
}

/** The boundary in the parameters of a content type. */
export function boundaryOf(parameters: ReadonlyMap<string, string>): string {
  const boundary = parameters.get("boundary") ?? ""
  if (/^[\x20-\x7e]{1,200}$/.test(boundary)) return boundary
  throw malformed("its content type has no boundary")
}

function partOf(head: Uint8Array): Part {
  const fields = new Map<string, string>()
  for (const line of new TextDecoder().decode(head).split("\r\n")) {
    const colon = line.indexOf(":")
    if (colon > 0) fields.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1))
  }
  const disposition = fields.get("content-disposition") ?? ""
  const parameters = dispositionParameters(disposition)
  const name = parameters.get("name")
  if (name === undefined || !/^\s*form-data\s*;/i.test(disposition)) {
    throw malformed("a part has no name")
  }
  const fileName = parameters.get("filename")
  return {
    name: unescaped(name),
    isFile: fileName !== undefined,
    fileName: fileName === undefined ? undefined : safeFileName(unescaped(fileName)),
    type: (fields.get("content-type") ?? "").trim(),
  }
}

/** Undoes what browsers escape in names. */
function unescaped(text: string): string {
  return text.replaceAll("%22", '"').replaceAll("%0D", "\r").replaceAll("%0A", "\n")
}

function find(bytes: Uint8Array, wanted: Uint8Array): number {
  const last = bytes.length - wanted.length
  // Both delimiters begin with a carriage return, which the platform finds fast.
  for (let at = bytes.indexOf(CR); at >= 0 && at <= last; at = bytes.indexOf(CR, at + 1)) {
    let length = 1
    while (length < wanted.length && bytes[at + length] === wanted[length]) length++
    if (length === wanted.length) return at
  }
  return -1
}

/** The error for a body that is not a form. */
export function malformed(why: string): CallError {
  return refusal("VALIDATION_ERROR", `The body is not multipart/form-data: ${why}.`)
}
