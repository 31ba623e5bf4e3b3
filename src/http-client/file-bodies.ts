// Files in requests and answers: larger ones are not part of the JSON, so that they are never in memory as a whole.

import { encodeValue } from "../core/envelope-codec.ts"
import { contentDisposition, fileNameOf } from "../internal/file-names.ts"
import { isFileLike, type FileLike } from "../schema/files.ts"
import { toFile } from "../schema/to-file.ts"
import { isPlainObject } from "../internal/guards.ts"
import { chunksOf } from "../internal/streams.ts"
import { FILE_PREFERENCE } from "../internal/headers.ts"

/** Files up to this size are sent as JSON, and may share a request with other calls. */
const MAX_INLINE = 256 * 1024

/** A body with files. */
export interface Upload {
  readonly headers: Readonly<Record<string, string>>
  /** Whether it can be sent again. */
  readonly isRepeatable: boolean
  readonly body: () => Promise<Blob | ReadableStream<Uint8Array>>
}

/**
 * The body for an input with files of more than `maxInline` bytes, at its top or among its properties; `undefined` for
 * other inputs.
 */
export function uploadOf(input: unknown, maxInline: number = MAX_INLINE): Upload | undefined {
  const isLarge = (file: FileLike): boolean => sizeOf(file) > maxInline
  if (isFileLike(input)) return isLarge(input) ? fileUpload(input) : undefined
  if (!isPlainObject(input)) return undefined
  for (const key in input) {
    const files = filesIn(input[key])
    if (files?.some(isLarge) === true) return formUpload(input)
  }
  return undefined
}

/** The file that an answer is. */
export function downloadOf(
  header: (name: string) => string | undefined,
  body: ReadableStream<Uint8Array> | null,
): FileLike | undefined {
  if (header("preference-applied") !== FILE_PREFERENCE || body === null) return undefined
  return fileOf(header, body)
}

/** The body of a response as a file, with the name and the type in its headers. */
export function fileOf(
  header: (name: string) => string | undefined,
  body: ReadableStream<Uint8Array> | null,
): FileLike {
  const length = header("content-length")
  const isLength = length !== undefined && header("content-encoding") === undefined
  return toFile(body ?? "", {
    name: fileNameOf(header("content-disposition")),
    type: header("content-type") ?? "",
    size: isLength ? Number(length) : undefined,
  })
}

function filesIn(value: unknown): readonly FileLike[] | undefined {
  if (typeof value !== "object" || value === null) return undefined
  if (!Array.isArray(value)) return isFileLike(value) ? [value] : undefined
  return value.length > 0 && value.every(isFileLike) ? value : undefined
}

function fileUpload(file: FileLike): Upload {
  return {
    headers: fileHeaders(file, "application/octet-stream"),
    isRepeatable: file instanceof Blob,
    body: () => bodyOf([file]),
  }
}

/** The headers of a request whose body is a file; `type` is that of a file without one. */
export function fileHeaders(
  file: FileLike,
  type: string,
): Record<"content-type" | "content-disposition", string> {
  return {
    "content-type": file.type || type,
    "content-disposition": contentDisposition("attachment", file.name),
  }
}

/** A form; `undefined` if there are bytes deeper in the input, which only the call protocol can carry. */
function formUpload(input: Readonly<Record<string, unknown>>): Upload | undefined {
  const boundary = `form-${crypto.randomUUID()}`
  const fields: (string | FileLike)[] = []
  const files: { readonly name: string; readonly file: FileLike }[] = []
  for (const [name, value] of Object.entries(input)) {
    const found = value instanceof Uint8Array ? [toFile(value)] : filesIn(value)
    if (found !== undefined) files.push(...found.map((file) => ({ name, file })))
    else if (value !== undefined) {
      const encoded = encodeValue(value)
      if (encoded.binary !== undefined) return undefined
      const json = JSON.stringify(encoded.value)
      fields.push(`${head(boundary, name)}\r\nContent-Type: application/json\r\n\r\n${json}\r\n`)
    }
  }
  // The server reads the fields first, and streams the last file.
  files.sort((left, right) => sizeOf(left.file) - sizeOf(right.file))
  for (const { name, file } of files) {
    const type = file.type || "application/octet-stream"
    const start = `${head(boundary, name)}; filename="${escapeName(file.name ?? "")}"`
    fields.push(`${start}\r\nContent-Type: ${type}\r\n\r\n`, file, "\r\n")
  }
  fields.push(`--${boundary}--\r\n`)
  return {
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    isRepeatable: files.every(({ file }) => file instanceof Blob),
    body: () => bodyOf(fields),
  }
}

/** A stream of unknown length counts as the longest. */
function sizeOf({ size = Number.POSITIVE_INFINITY }: FileLike): number {
  return size
}

function head(boundary: string, name: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`
}

/** Escapes a name for `Content-Disposition` of a form, as browsers do. */
export function escapeName(text: string): string {
  return text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22")
}

/** A `Blob` is read when it is sent, and so are streams, except in browsers, which cannot send them. */
async function bodyOf(
  pieces: readonly (string | FileLike)[],
): Promise<Blob | ReadableStream<Uint8Array>> {
  if (pieces.every((piece) => typeof piece === "string" || piece instanceof Blob)) {
    return new Blob(pieces as BlobPart[])
  }
  const stream = toFile(bytesOf(pieces)).stream()
  const { location } = globalThis as { readonly location?: unknown }
  return location === undefined ? stream : await new Response(stream).blob()
}

async function* bytesOf(
  pieces: readonly (string | FileLike)[],
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder()
  for (const piece of pieces) {
    if (typeof piece === "string") yield encoder.encode(piece)
    else yield* chunksOf(piece.stream())
  }
}
