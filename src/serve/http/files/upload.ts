import type { OperationSpec } from "../../../core/types.ts"
import { parseMediaType } from "../../../http-client/media-type.ts"
import { fileNameOf } from "../../../internal/file-names.ts"
import { joinBytes } from "../../../schema/files.ts"
import { toFile } from "../../../schema/to-file.ts"
import { toBase64 } from "../../../internal/base64.ts"
import { isRecord } from "../../../internal/guards.ts"
import { getOwn, setOwn, type JsonSchema } from "../../../schema/json.ts"
import { fileFieldsOf, type FileField, type FileFields } from "../../../schema/file-fields.ts"
import { decodeBody } from "../../read-body.ts"
import type { HTTPIncoming } from "../../exchange.ts"
import { badRequest, HTTPRefusal, tooLong } from "../context.ts"
import type { HTTPContext } from "../http-context.ts"
import { isJsonBody } from "../../negotiate.ts"
import { readFormInput, readQueryInput } from "../../query-input.ts"
import { boundaryOf, malformed, MultipartReader, type ByteReader, type Part } from "./multipart.ts"

/**
 * The input in the body of a request that may have files.
 *
 * Files up to `maxBodyBytes` are complete before the handler runs. A longer one is a stream, which the handler reads
 * while it arrives.
 */
export async function readUpload(
  context: HTTPContext,
  incoming: HTTPIncoming,
  spec: OperationSpec,
): Promise<unknown> {
  const fields = fileFieldsOf(spec.inputSchema)
  if (isJsonBody(incoming) && !(fields !== undefined && takes(fields, false))) {
    return await context.readJSON(incoming, spec)
  }
  const type = incoming.header("content-type") ?? ""
  const { essence, parameters } = parseMediaType(type) ?? {}
  const isForm = essence === "multipart/form-data"
  if (fields === undefined || parameters === undefined || !takes(fields, isForm)) {
    throw unsupported(fields)
  }
  const { slot } = incoming
  slot?.pause()
  const body = limitedReader(incoming, context.options.maxUploadBytes)
  const upload = new Upload(context, spec.inputSchema as JsonSchema, fields)
  const input = isForm
    ? await upload.form(new MultipartReader(body, boundaryOf(parameters)), incoming)
    : await upload.file(body, type, incoming)
  const full = slot?.resume()
  if (full !== undefined) throw full
  return input
}

function takes({ whole, only }: FileFields, isForm: boolean): boolean {
  return isForm ? whole === undefined : (whole ?? only) !== undefined
}

class Upload {
  readonly #context: HTTPContext
  readonly #schema: JsonSchema
  readonly #fields: FileFields
  readonly #parse = (text: string): unknown => this.#context.parseJSON(text)
  /** Bytes that may still be kept in memory. */
  #left: number

  constructor(context: HTTPContext, schema: JsonSchema, fields: FileFields) {
    this.#context = context
    this.#schema = schema
    this.#fields = fields
    this.#left = context.options.maxBodyBytes
  }

  /** A body that is one file; other inputs are in the query. */
  async file(body: ByteReader, type: string, incoming: HTTPIncoming): Promise<unknown> {
    const { whole, only } = this.#fields
    const fileName = fileNameOf(incoming.header("content-disposition"))
    const field = (whole ?? only?.field) as FileField
    const { value } = await this.#take({ type, fileName }, field, body)
    return only === undefined ? value : this.#besideQuery(only.name, value, incoming)
  }

  /** An input of which one property is in the body, and all others in the query. */
  #besideQuery(name: string, value: unknown, { query }: HTTPIncoming): unknown {
    const input = readQueryInput(query, this.#schema, this.#parse)
    const named = isRecord(input) ? input : {}
    setOwn(named, name, value)
    return named
  }

  async form(reader: MultipartReader, incoming: HTTPIncoming): Promise<unknown> {
    const { inside } = this.#fields
    const texts = new Map<string, string[]>()
    const others: Record<string, unknown> = {}
    let isStreamed = false
    while (!isStreamed) {
      const part = await reader.next()
      if (part === undefined) break
      const { name } = part
      const shown = JSON.stringify(name.slice(0, 100))
      const field = this.#fields.properties.get(name)
      if (field?.isList !== true && getOwn(others, name) !== undefined) {
        throw badRequest(`${shown} is one value, and more than one part of the form has its name.`)
      }
      if (field === undefined) {
        if (part.isFile) {
          throw badRequest(`${shown} is not a file of this operation.`)
        }
        const text = decodeBody([await this.#collect(reader)])
        const isJson = parseMediaType(part.type)?.essence === "application/json"
        if (isJson) setOwn(others, name, this.#context.parseJSON(text))
        else texts.set(name, [...(texts.get(name) ?? []), text])
        continue
      }
      const taken = await this.#take(part, field, reader)
      const before = getOwn(others, name)
      if (!field.isList) setOwn(others, name, taken.value)
      else if (Array.isArray(before)) before.push(taken.value)
      else setOwn(others, name, [taken.value])
      isStreamed = taken.isStreamed
    }
    const input = readFormInput(texts, inside?.view ?? this.#schema, this.#parse)
    const named = isRecord(input) ? input : {}
    for (const [name, value] of Object.entries(others)) setOwn(named, name, value)
    return inside === undefined ? named : this.#besideQuery(inside.name, named, incoming)
  }

  /** The value of a file for the handler: in memory, or the stream of one that is too long for that. */
  async #take(
    { type, fileName }: Pick<Part, "type" | "fileName">,
    { kind, mediaType = "" }: FileField,
    reader: ByteReader,
  ): Promise<{ readonly value: unknown; readonly isStreamed: boolean }> {
    const details = { name: fileName, type: type || mediaType }
    const chunks: Uint8Array[] = []
    let length = 0
    for (;;) {
      const chunk = await reader.read()
      if (chunk === undefined) break
      chunks.push(chunk)
      length += chunk.byteLength
      this.#left -= chunk.byteLength
      if (this.#left >= 0) continue
      if (kind !== "stream") throw tooLong(this.#context.options.maxBodyBytes)
      return { value: toFile(rest(chunks, reader), details), isStreamed: true }
    }
    const bytes = joinBytes(chunks, length)
    if (kind === "stream") return { value: toFile(bytes, details), isStreamed: false }
    return { value: kind === "text" ? toBase64(bytes) : bytes, isStreamed: false }
  }

  async #collect(reader: ByteReader): Promise<Uint8Array> {
    const { value } = await this.#take(
      NO_FILE,
      { kind: "raw", isList: false, mediaType: "" },
      reader,
    )
    return value as Uint8Array
  }
}

const NO_FILE = { type: "", fileName: undefined }

/** What was read of a file, and what still arrives. */
async function* rest(
  chunks: Uint8Array[],
  reader: ByteReader,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for (const chunk of chunks.splice(0)) yield chunk
    for (;;) {
      const chunk = await reader.read()
      if (chunk === undefined) break
      yield chunk
    }
    if (reader instanceof MultipartReader && (await reader.next()) !== undefined) {
      throw malformed("parts follow a large file; send the large file last")
    }
  } finally {
    reader.cancel()
  }
}

/** The refusal of a body of another type. */
function unsupported(fields: FileFields | undefined): HTTPRefusal {
  const ways = ["application/json"]
  if (fields !== undefined && takes(fields, true)) ways.push("multipart/form-data")
  if (fields !== undefined && takes(fields, false)) ways.push("the type of the file")
  return new HTTPRefusal(
    415,
    "VALIDATION_ERROR",
    `Send the body as content-type: ${ways.join(", or ")}.`,
  )
}

/** Reads the body of a request up to a limit. Throws a refusal when it is longer. */
function limitedReader(incoming: HTTPIncoming, max: number): ByteReader {
  if (Number(incoming.header("content-length")) > max) throw tooLong(max)
  if (incoming.openBody === undefined) {
    throw new HTTPRefusal(415, "VALIDATION_ERROR", "This server takes bodies as JSON only.")
  }
  const reader = incoming.openBody().getReader()
  let left = max
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  return {
    cancel,
    async read() {
      const { value } = await reader.read()
      left -= value?.byteLength ?? 0
      if (left >= 0) return value
      cancel()
      throw tooLong(max)
    },
  }
}
