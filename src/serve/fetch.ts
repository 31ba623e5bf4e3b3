import type { Authenticated } from "./authenticate.ts"
import { isStream, Leaving, NULL_SINK, requestIdFor } from "./exchange.ts"
import type { HTTPAnswer, HTTPIncoming, HTTPSink, HTTPStream } from "./exchange.ts"
import type { MountPaths } from "./http/mount-path.ts"
import { openWebBody, readWebBody, type RequestSlot } from "./read-body.ts"
import type { UpgradeRequestLike } from "./upgrade.ts"

/** An `HTTPIncoming` for a web request. */
export class WebIncoming implements HTTPIncoming {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly like: UpgradeRequestLike
  readonly identity: Authenticated | null | undefined
  readonly leaving: Leaving = new Leaving()
  /** The request id, if the client sent one or it was created. */
  knownId: string | undefined = undefined
  slot: RequestSlot | undefined = undefined
  response: HTTPIncoming["response"] = undefined
  readonly raw: Request

  constructor(request: Request, identity: Authenticated | null | undefined, paths?: MountPaths) {
    const { pathname, search, host } = new URL(request.url)
    this.raw = request
    this.method = request.method.toUpperCase()
    this.path = paths === undefined ? pathname : paths.ofWeb(pathname)
    this.query = search.slice(1)
    this.identity = identity
    const requestId = this.header("request-id")
    if (requestId !== undefined) this.knownId = requestIdFor(requestId)
    this.like = {
      url: `${pathname}${search}`,
      // Some platforms use the host header for the URL, and remove it from the headers.
      headers: { host, ...Object.fromEntries(request.headers) },
    }
    const { signal } = request
    if (signal.aborted) this.leaving.leave()
    else signal.addEventListener("abort", () => this.leaving.leave(), { once: true })
  }

  get requestId(): string {
    return (this.knownId ??= requestIdFor(undefined))
  }

  header(name: string): string | undefined {
    return this.raw.headers.get(name) ?? undefined
  }

  onGone(listener: () => void): () => void {
    return this.leaving.listen(listener)
  }

  readBody(maxBytes: number): Promise<string | undefined> {
    return readWebBody(this.raw, maxBytes, this.slot)
  }

  openBody(): ReadableStream<Uint8Array> {
    return openWebBody(this.raw)
  }
}

/** Converts an answer to a web response. */
export function toResponse(answer: HTTPAnswer, incoming: WebIncoming): Response {
  const { status, body } = answer
  const { knownId } = incoming
  const { "set-cookie": cookies, ...others } = answer.headers
  const headers = new Headers(others)
  for (const cookie of cookies?.split("\n") ?? []) headers.append("set-cookie", cookie)
  if (knownId !== undefined) headers.set("request-id", knownId)
  const isHead = incoming.method === "HEAD"
  if (!isStream(body)) {
    const content = isHead || body === undefined ? null : (body as BodyInit)
    return new Response(content, { status, headers })
  }
  if (isHead) {
    // Never rejects.
    void body.run(NULL_SINK)
    return new Response(null, { status, headers })
  }
  return new Response(readable(body, incoming.leaving), { status, headers })
}

function readable(stream: HTTPStream, leaving: Leaving): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let wake: (() => void) | undefined
  const go = (): void => {
    wake?.()
    wake = undefined
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const stop = leaving.listen(go)
        const isFull = (): boolean => !leaving.isGone && (controller.desiredSize ?? 0) <= 0
        const running = stream.run({
          get isGone() {
            return leaving.isGone
          },
          write(chunk) {
            const bytes = typeof chunk === "string" ? encoder.encode(chunk) : chunk
            if (!leaving.isGone) controller.enqueue(bytes)
            return !isFull()
          },
          cut: () => leaving.leave(),
          drained: () =>
            isFull() ? new Promise<void>((resolve) => (wake = resolve)) : Promise.resolve(),
          onGone: (listener) => leaving.listen(listener),
        })
        void running
          .then(() => {
            stop()
            if (!leaving.isGone) controller.close()
            else controller.error(new DOMException("The client left.", "AbortError"))
          })
          .catch(() => undefined)
      },
      pull: go,
      cancel() {
        leaving.leave()
      },
    },
    { highWaterMark: 64 * 1024, size: (chunk) => chunk?.byteLength ?? 0 },
  )
}

/** The answer that a web response is; its body is not read before it is sent. */
export function answerFrom(response: Response): HTTPAnswer {
  const { status, body } = response
  const headers = Object.fromEntries(response.headers)
  if ("set-cookie" in headers) headers["set-cookie"] = response.headers.getSetCookie().join("\n")
  if (body === null) return { status, headers }
  return { status, headers, body: { run: (sink) => pump(body, sink) } }
}

/** Writes a body until it ends or the client leaves. Never rejects. */
async function pump(body: ReadableStream<Uint8Array>, sink: HTTPSink): Promise<void> {
  const reader = body.getReader()
  const stop = sink.onGone(() => void reader.cancel().catch(() => undefined))
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || sink.isGone) break
      if (!sink.write(value)) await sink.drained()
    }
  } catch {
    // The rest is missing, as the client should see.
    sink.cut?.()
  } finally {
    stop()
  }
}
