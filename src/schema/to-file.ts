import { chunksOf } from "../internal/streams.ts"
import type { FileLike } from "./files.ts"

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
