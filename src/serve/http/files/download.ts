import type { ResponseEnvelope } from "../../../core/envelope.ts"
import { parseMediaType } from "../../../http-client/media-type.ts"
import { contentDisposition, fileNameOf } from "../../../internal/file-names.ts"
import type { Logger } from "../../../internal/logger.ts"
import { fileFieldsOf } from "../../../schema/file-fields.ts"
import { isFileLike, type FileLike } from "../../../schema/files.ts"
import type { HTTPAnswer, HTTPHeaders, HTTPSink } from "../../exchange.ts"

/** Types that browsers show without running anything; all others are saved, as is PDF, which a sandbox blocks. */
const SHOWN =
  /^(?:(?:audio|video)\/[\w.+-]+|image\/(?:png|jpeg|gif|webp|avif|bmp)|text\/(?:plain|csv)|application\/json)$/

const UNKNOWN = { essence: "application/octet-stream", parameters: new Map<string, string>() }

/** The answer with a result that is a file or bytes. */
export function fileAnswer(
  { data, meta }: ResponseEnvelope,
  outputSchema: unknown,
  logger: Logger,
  extra: HTTPHeaders,
): HTTPAnswer {
  const isFile = isFileLike(data)
  const bytes = bytesOf(data)
  const own = isFile ? data.type : ""
  const sent = meta.source === "http" ? meta.contentType : undefined
  const name = isFile
    ? data.name
    : meta.source === "http"
      ? fileNameOf(meta.headers?.["content-disposition"])
      : undefined
  const headers = {
    ...extra,
    ...fileHeaders(own || sent || fileFieldsOf(outputSchema)?.whole?.mediaType, name),
  }
  if (bytes !== undefined) return { status: 200, headers, body: bytes }
  const file = data as FileLike
  const { size } = file
  const length = size === undefined ? undefined : { "content-length": String(size) }
  return {
    status: 200,
    headers: { ...headers, ...length },
    body: { run: (sink) => sendFile(file, logger, sink) },
  }
}

function bytesOf(data: unknown): Uint8Array | undefined {
  if (data instanceof Uint8Array) return data
  return data instanceof ArrayBuffer ? new Uint8Array(data) : undefined
}

function fileHeaders(type: string | undefined, name: string | undefined): Record<string, string> {
  const { essence, parameters } = parseMediaType((type ?? "").slice(0, 255)) ?? UNKNOWN
  const charset = parameters.get("charset") ?? ""
  return {
    // Written anew: browsers take the last of several types in the text that was sent.
    "content-type": /^[\w.:+-]+$/.test(charset) ? `${essence}; charset=${charset}` : essence,
    "content-disposition": contentDisposition(SHOWN.test(essence) ? "inline" : "attachment", name),
  }
}

/** Sends a file as the body of an answer: a chunk is read when the connection has room for it. */
async function sendFile(file: FileLike, logger: Logger, sink: HTTPSink): Promise<void> {
  const { size } = file
  let left = size ?? Number.POSITIVE_INFINITY
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const stop = sink.onGone(() => void reader?.cancel().catch(() => undefined))
  try {
    reader = file.stream().getReader()
    while (!sink.isGone) {
      const { done, value } = await reader.read()
      if (done) break
      left -= value.byteLength
      if (left < 0) throw new TypeError(`The file is longer than its size of ${size} bytes.`)
      if (!sink.write(value)) await sink.drained()
    }
    if (left > 0 && size !== undefined && !sink.isGone) {
      throw new TypeError(`The file is shorter than its size of ${size} bytes.`)
    }
  } catch (error) {
    // The status has been sent: only a broken connection tells that something is missing.
    logger.error("A file could not be sent to its end", { error })
    sink.cut?.()
  } finally {
    stop()
    reader?.cancel().catch(() => undefined)
  }
}
