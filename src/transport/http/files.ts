// What only requests and answers with bytes need: pages load it with the first of them.

import { downloadOf } from "../../http-client/file-bodies.ts"
import { systemClock, wallTimeOf } from "../../internal/clock.ts"
import { watchedBody } from "../../internal/streams.ts"
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
    // If the reader stops, the request is aborted.
    const ended = (isCut: boolean): void => {
      this.#open.delete(entry)
      if (isCut) request.abort()
    }
    const watched = body && watchedBody(body, ended, { highWaterMark: 0 })
    const data = downloadOf((name) => headers.get(name) ?? undefined, watched)
    const timestamp = wallTimeOf(systemClock)
    return data && { data, meta: { source: "local", operationId, timestamp } }
  }

  abort(reason: Error): void {
    for (const request of this.#open) request.deref()?.abort(reason)
    this.#open.clear()
  }
}
