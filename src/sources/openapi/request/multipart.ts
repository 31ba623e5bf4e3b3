import { Unwritable, isByteStream, isBytes, shapeOf, withFieldName } from "./text.ts"
import type { ByteStream } from "./text.ts"
import { escapeName } from "../../../http-client/file-bodies.ts"
import { essenceOf } from "../../../http-client/media-type.ts"
import { isFileLike } from "../../../schema/files.ts"
import { isRecord } from "../../../internal/guards.ts"
import type { EncodingModel, FieldModel } from "../model.ts"
import { VERBATIM, concreteType, orderedFields } from "./serialize.ts"
import { pairsOf, textOrJson } from "./styles.ts"

/** An encoded multipart body, and the content type with its boundary. */
export interface EncodedMultipart {
  readonly contentType: string
  /** Composed of its parts without reading them: files are read when they are sent. */
  readonly body: Blob
}

/** A multipart body that contains streams and can be sent only once. */
export class StreamedForm {
  readonly contentType: string
  readonly stream: ReadableStream<Uint8Array>

  constructor(layout: Layout, parts: readonly Part[]) {
    const boundary = newBoundary()
    this.contentType = contentTypeOf(layout, parts, boundary)
    this.stream = streamOfPieces(piecesOf(parts, layout, boundary))
  }
}

/** A part that is read when it is sent. */
interface StreamedPart {
  readonly source: ByteStream
  readonly name: string
  readonly type: string
}

type Entry = string | File | StreamedPart
type Part = readonly [name: string, entry: Entry]

/** How a form is written. */
interface Layout {
  readonly essence: string
  readonly fields: ReadonlyMap<string, FieldModel>
}

// `FormData` cannot mark a typed part as not a file, nor the whole as other than `form-data`.
const plainParts = new WeakSet<Blob>()
const layouts = new WeakMap<FormData, Layout>()
const PLAIN: Layout = { essence: "multipart/form-data", fields: new Map() }
const withBlobs = new WeakSet<FormData>()

/** Whether a form contains a `Blob` of the caller. */
export function holdsBlob(form: FormData): boolean {
  return withBlobs.has(form)
}

/** Writes the fields of an object as the parts of a multipart body. */
export function formDataOf(
  type: string,
  fields: ReadonlyMap<string, FieldModel>,
  value: unknown,
): FormData | StreamedForm {
  const layout = { essence: essenceOf(type), fields }
  if (value instanceof FormData) {
    layouts.set(value, layout)
    if ([...value].some(([, entry]) => entry instanceof Blob)) withBlobs.add(value)
    return value
  }
  if (!isRecord(value) || isBytes(value)) {
    throw new Unwritable("must be an object with one member per part to be sent as multipart")
  }
  const parts: Part[] = []
  for (const [name, item] of orderedFields(fields, value)) {
    withFieldName(name, () => appendField(parts, name, item, fields.get(name)))
  }
  if (parts.some(([, entry]) => isStreamed(entry))) return new StreamedForm(layout, parts)
  const form = new FormData()
  layouts.set(form, layout)
  const items = Object.values(value).flat()
  if (items.some((item) => item instanceof Blob)) withBlobs.add(form)
  for (const [name, entry] of parts) form.append(name, entry as string | File)
  return form
}

/**
 * Encodes a multipart body just before it is sent.
 *
 * The platform would give each typed part a file name, and servers would treat JSON parts as uploaded files.
 */
export function encodeMultipart(form: FormData): EncodedMultipart {
  const boundary = newBoundary()
  const layout = layouts.get(form) ?? PLAIN
  const pieces = [...piecesOf(form, layout, boundary)] as BlobPart[]
  const contentType = contentTypeOf(layout, form, boundary)
  return { contentType, body: new Blob(pieces, { type: contentType }) }
}

/** `multipart/related` names the type of its root, which is its first part. */
function contentTypeOf({ essence }: Layout, parts: Iterable<Part>, boundary: string): string {
  const [root] = essence === RELATED ? parts : []
  const type = root === undefined ? "" : `; type="${essenceOf(typeOf(root[1]) ?? "text/plain")}"`
  return `${essence}${type}; boundary=${boundary}`
}

const RELATED = "multipart/related"

function* piecesOf(
  parts: Iterable<Part>,
  layout: Layout,
  boundary: string,
): Generator<string | Blob | ByteStream, void, undefined> {
  for (const [name, entry] of parts) {
    yield `--${boundary}\r\n${partHead(name, entry, layout)}\r\n\r\n`
    yield isStreamed(entry) ? entry.source : entry
    yield "\r\n"
  }
  yield `--${boundary}--\r\n`
}

function isStreamed(entry: Entry): entry is StreamedPart {
  return typeof entry === "object" && "source" in entry
}

function appendField(
  parts: Part[],
  name: string,
  value: unknown,
  field: FieldModel | undefined,
): void {
  const how: EncodingModel["serialization"] = field?.encoding?.serialization
  if (how !== undefined && !isBytes(value)) {
    for (const [key, text] of pairsOf(name, value, how, VERBATIM)) parts.push([key, text])
    return
  }
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  for (const item of items) appendPart(parts, name, item, field)
}

function appendPart(
  parts: Part[],
  name: string,
  value: unknown,
  field: FieldModel | undefined,
): void {
  if (value === undefined || value === null) return
  const type = concreteType(field)
  if (isBytes(value)) {
    parts.push([name, fileOf(name, value, type)])
    return
  }
  const isText = shapeOf(value).kind === "scalar"
  const text = textOrJson(value)
  if (isText && field?.isBinary === true) {
    const file = new File([text], name, { type: type ?? "application/octet-stream" })
    parts.push([name, file])
    return
  }
  const partType = type ?? (isText ? "text/plain" : "application/json")
  const isPlain = isText && essenceOf(partType) === "text/plain"
  parts.push([name, isPlain ? text : plainPart(name, text, partType)])
}

/** A typed part that is not a file; the platform needs a name for it nevertheless. */
function plainPart(name: string, text: string, type: string): File {
  const part = new File([text], name, { type })
  plainParts.add(part)
  return part
}

function fileOf(name: string, value: unknown, type: string | undefined): File | StreamedPart {
  if (isByteStream(value)) {
    if (value instanceof ReadableStream && value.locked) {
      throw new Unwritable("is a stream that is being read already")
    }
    const own = isFileLike(value) ? value : undefined
    return {
      source: value,
      name: own?.name ?? name,
      type: own?.type || type || "application/octet-stream",
    }
  }
  if (value instanceof File && (value.type !== "" || type === undefined)) return value
  const own = value instanceof Blob ? value.type : ""
  const fileName = value instanceof File ? value.name : name
  return new File([value as BlobPart], fileName, {
    type: own || type || "application/octet-stream",
  })
}

function partHead(name: string, entry: Entry, { essence, fields }: Layout): string {
  const isText = typeof entry === "string" || (entry instanceof File && plainParts.has(entry))
  const fileName = isText ? "" : `; filename="${escapeName(entry.name)}"`
  const lines = [`Content-Disposition: form-data; name="${escapeName(name)}"${fileName}`]
  const type = typeOf(entry)
  if (type !== undefined) lines.push(`Content-Type: ${type}`)
  const { headers, transferEncoding } = fields.get(name)?.encoding ?? {}
  if (isText && transferEncoding !== undefined) {
    lines.push(`Content-Transfer-Encoding: ${transferEncoding}`)
  }
  const named = essence === RELATED ? new Map([["Content-ID", `<${escapeName(name)}>`]]) : undefined
  for (const [header, value] of headers ?? named ?? []) {
    lines.push(`${header}: ${value ?? escapeName(name)}`)
  }
  return lines.join("\r\n")
}

function typeOf(entry: Entry): string | undefined {
  return typeof entry === "string" ? undefined : entry.type || "application/octet-stream"
}

function newBoundary(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const text = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
  return `form-boundary-${text}`
}

/** Converts any byte stream to one of the platform; text is encoded as UTF-8. */
export function streamOf(source: ByteStream): ReadableStream<Uint8Array> {
  if (source instanceof ReadableStream) {
    if (source.locked) throw new Unwritable("is a stream that is being read already")
    return source
  }
  return streamOfPieces([source])
}

/** Concatenates several pieces to one stream; each is read in turn. */
function streamOfPieces(pieces: Iterable<string | Blob | ByteStream>): ReadableStream<Uint8Array> {
  const chunks = chunksOf(pieces)
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    // Notify the source of a stream that it is no longer read.
    async cancel() {
      await chunks.return(undefined)
    },
  })
}

async function* chunksOf(
  pieces: Iterable<string | Blob | ByteStream>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const piece of pieces) {
    if (typeof piece === "string") yield bytesOf(piece)
    else {
      const stream = piece instanceof Blob ? piece.stream() : piece
      for await (const chunk of stream as AsyncIterable<unknown>) yield bytesOf(chunk)
    }
  }
}

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk === "string") return new TextEncoder().encode(chunk)
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk)
  if (ArrayBuffer.isView(chunk)) {
    return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  }
  throw new TypeError(`A stream to be sent must yield bytes or text, got ${typeof chunk}.`)
}
