import { type CallError, refusal } from "../core/errors.ts"
import { chunksOf } from "../internal/streams.ts"

/** A slot of a caller's concurrent requests. */
export interface RequestSlot {
  /** Frees the slot while a body arrives. */
  pause(): void
  /** Takes the slot again; returns an error when none is free. */
  resume(): CallError | undefined
}

/** Reads the body of a web request as text; `undefined` when it is longer than `maxBytes`. */
export async function readWebBody(
  request: Request,
  maxBytes: number,
  slot?: RequestSlot,
): Promise<string | undefined> {
  const declared = request.headers.get("content-length")
  if (declared === "0") return ""
  const length = Number(declared)
  if (length > maxBytes) return undefined
  const body = request.body as ReadableStream<Uint8Array> | null
  if (request.bodyUsed || body?.locked === true || (body === null && length > 0)) {
    throw bodyGone(WEB_MOUNT)
  }
  if (body === null) return ""
  slot?.pause()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunksOf(body)) {
    size += chunk.byteLength
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  const full = slot?.resume()
  if (full !== undefined) throw full
  return decodeBody(chunks)
}

/** Opens the body of a web request as a stream. Throws when other code has read it. */
export function openWebBody(request: Request): ReadableStream<Uint8Array> {
  const body = request.body as ReadableStream<Uint8Array> | null
  if (request.bodyUsed || body?.locked === true) throw bodyGone(WEB_MOUNT)
  return body ?? new ReadableStream({ start: (controller) => controller.close() })
}

/** The text of a body. Bytes other than UTF-8 are refused instead of replaced. */
export function decodeBody(chunks: readonly Uint8Array[]): string {
  try {
    const [only] = chunks
    if (chunks.length <= 1) return only === undefined ? "" : STRICT.decode(only)
    const decoder = new TextDecoder("utf-8", { fatal: true })
    let text = ""
    for (const chunk of chunks) text += decoder.decode(chunk, { stream: true })
    return text + decoder.decode()
  } catch {
    throw refusal("VALIDATION_ERROR", "The body is not UTF-8.")
  }
}

const STRICT = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true })

/** Advice for a body that other code has read. */
const WEB_MOUNT =
  "Pass the request before its body is read, give other code request.clone(), or pass " +
  "new Request(request, { body }) with the text of the body."

/** The error for a body that is no longer available, which is the server's mistake. */
export function bodyGone(advice: string): CallError {
  return refusal(
    "EXECUTION_ERROR",
    "The call was not run: other code has read the request body, and it is no longer available. " +
      advice,
    { mayHaveExecuted: false, retryable: false },
  )
}
