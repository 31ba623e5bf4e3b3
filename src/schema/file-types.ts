import { type TUnsafe, Type } from "typebox"
import { FILE_MARK, type FileLike, isFileLike } from "./files.ts"

/** Annotations of a file type. */
export interface FileTypeOptions {
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** Its content type, such as `image/png`. */
  readonly contentMediaType?: string | undefined
}

/**
 * Bytes in memory: a `Uint8Array`, for the handler and for its callers.
 *
 * In JSON they are base64 text. For files, and for anything larger than a few megabytes, use `FileStream`.
 */
export function Bytes(options: FileTypeOptions = {}): TUnsafe<Uint8Array> {
  return Type.Refine(
    Type.Unsafe<Uint8Array>({ format: "binary", ...options, [FILE_MARK]: "bytes" }),
    (value) => value instanceof Uint8Array,
    () => "must be bytes: a Uint8Array, or base64 text in JSON",
  )
}

/**
 * A file with its name and content type: a `File`, a `Blob`, or a stream that over HTTP is never in memory as a whole.
 *
 * In JSON it is base64 text.
 */
export function FileStream(options: FileTypeOptions = {}): TUnsafe<FileLike> {
  return Type.Refine(
    Type.Unsafe<FileLike>({ format: "binary", ...options, [FILE_MARK]: "stream" }),
    isFileLike,
    () => "must be a file: a File, a Blob, the result of toFile(), or base64 text in JSON",
  )
}
