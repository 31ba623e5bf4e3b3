// What only requests and answers with bytes need: pages load it with the first of them.

import { downloadOf } from "../../http-client/file-bodies.ts"
import { systemClock, wallTimeOf } from "../../internal/clock.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import type { FileLike } from "../../schema/files.ts"

export { decodeEnvelope, encodeValue } from "../../core/envelope-codec.ts"
export { uploadOf } from "../../http-client/file-bodies.ts"

/** Files that are read after their calls were answered. */
export class Downloads {
  // Weak, so that unused files can be collected.
  readonly #open = new Set<WeakRef<AbortController>>()

  /** The result that is the file of an answer; `undefined` if that has no body. */
  add(
    { headers, body }: Response,
    request: AbortController,
    operationId: string,
  ): ResponseEnvelope<FileLike> | undefined {
    for (const one of this.#open) if (one.deref() === undefined) this.#open.delete(one)
    const entry = new WeakRef(request)
    this.#open.add(entry)
    const watched = body && watch(body, request, () => this.#open.delete(entry))
    const data = downloadOf((name) => headers.get(name) ?? undefined, watched)
    const timestamp = wallTimeOf(systemClock)
    return data && { data, meta: { source: "local", operationId, timestamp } }
  }

  abort(reason: Error): void {
    for (const request of this.#open) request.deref()?.abort(reason)
    this.#open.clear()
  }
}

/** The same bytes; if the reader stops, their request is aborted. */
function watch(
  body: ReadableStream<Uint8Array>,
  request: AbortController,
  ended: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(target) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          ended()
          throw error
        })
        if (!done) {
          target.enqueue(value)
          return
        }
        ended()
        target.close()
      },
      cancel() {
        ended()
        request.abort()
      },
    },
    { highWaterMark: 0 },
  )
}
