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
