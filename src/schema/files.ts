import { chunksOf } from "../internal/streams.ts"

/**
 * The keyword of file schemas. Its value is `bytes` for `Bytes`, `stream` for `FileStream`, and `file` for a `File` of
 * the platform, as other schema libraries have it.
 */
export const FILE_MARK = "x-operation-file"

/**
 * A file: a `File` or `Blob` of the platform, or one that is read as a stream and never in memory as a whole.
 *
 * A stream can be read once, with one of the three methods.
 */
export interface FileLike {
  /** The file name without folders; `undefined` if it has none. */
  readonly name?: string | undefined
  /** Its content type, such as `image/png`; empty when unknown. */
  readonly type: string
  /** The size in bytes; `undefined` while it is unknown. */
  readonly size?: number | undefined
  stream(): ReadableStream<Uint8Array>
  arrayBuffer(): Promise<ArrayBuffer>
  text(): Promise<string>
}

/** The content of a new file. */
export type FileSource =
  | string
  | Blob
  | ArrayBuffer
  | Uint8Array
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>

/** The properties of a file besides its bytes. */
export interface FileDetails {
  readonly name?: string | undefined
  /** Default: the type of a `Blob`, or unknown. */
  readonly type?: string | undefined
  /** The length of a stream, if it is known; a download then has a length, too. */
  readonly size?: number | undefined
}

/** Makes a file from bytes, text or a stream. A stream is read when the file is. */
export function toFile(source: FileSource, { name, type, size }: FileDetails = {}): FileLike {
  const isData =
    typeof source === "string" ||
    source instanceof Blob ||
    source instanceof ArrayBuffer ||
    source instanceof Uint8Array
  if (!isData) return new StreamedFile(source, { name, type, size })
  const options = { type: type ?? (source instanceof Blob ? source.type : "") }
  const fileName = name ?? (source instanceof Blob ? (source as Partial<File>).name : undefined)
  const parts = [source as BlobPart]
  return fileName === undefined ? new Blob(parts, options) : new File(parts, fileName, options)
}

/** Whether a value is a file. */
export function isFileLike(value: unknown): value is FileLike {
  if (value instanceof Blob) return true
  if (typeof value !== "object" || value === null) return false
  const { stream, arrayBuffer, type } = value as Partial<FileLike>
  return (
    typeof stream === "function" && typeof arrayBuffer === "function" && typeof type === "string"
  )
}

/** Reads a file into memory; `undefined` when it is longer than `maxBytes`. */
export async function readFile(
  file: FileLike,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (file.size !== undefined && file.size > maxBytes) return undefined
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunksOf(file.stream())) {
    length += chunk.byteLength
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return joinBytes(chunks, length)
}

/** One array of several chunks. */
export function joinBytes(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

/** A file that is read as a stream, once. It can be iterated as well. */
class StreamedFile implements FileLike, AsyncIterable<Uint8Array> {
  readonly name: string | undefined
  readonly type: string
  readonly size: number | undefined
  #source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | undefined

  constructor(
    source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
    { name, type = "", size }: FileDetails,
  ) {
    const isStream =
      source instanceof ReadableStream ||
      typeof (source as Partial<AsyncIterable<unknown>> | null)?.[Symbol.asyncIterator] ===
        "function"
    if (!isStream) {
      throw new TypeError(
        "toFile(source): source must be text, bytes, a Blob or a stream of bytes.",
      )
    }
    this.#source = source
    this.name = name
    this.type = type
    this.size = size
  }

  stream(): ReadableStream<Uint8Array> {
    const source = this.#source
    if (source === undefined) {
      const which = this.name === undefined ? "" : ` "${this.name}"`
      throw new TypeError(`The file${which} is a stream, and was read before.`)
    }
    this.#source = undefined
    return source instanceof ReadableStream ? source : streamOf(source)
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return await new Response(this.stream()).arrayBuffer()
  }

  async text(): Promise<string> {
    return await new Response(this.stream()).text()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    yield* chunksOf(this.stream())
  }
}

function streamOf(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else if (value instanceof Uint8Array) controller.enqueue(value)
        else throw new TypeError(`A file's stream must yield bytes, got ${typeof value}.`)
      },
      async cancel() {
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
