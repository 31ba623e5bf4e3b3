import { setRef } from "../../internal/defer.ts"
import { withTimeout } from "../../internal/wait.ts"

const COMMENT = new TextEncoder().encode(": keepalive\n\n")

/**
 * Starts a response in time, even if its answer is late.
 *
 * After `quietMs` it becomes an event stream with regular comments, so that no proxy
 * closes the silent connection; the answer is its only event. `onLeave` is called when the client disconnects first.
 */
export async function inTime(
  answer: Promise<Response>,
  quietMs: number,
  onLeave: () => void,
): Promise<Response> {
  if (!Number.isFinite(quietMs) || quietMs < 1) return await answer
  const onQuiet = (): Response => streamed(answer, quietMs, onLeave)
  return await withTimeout(answer, quietMs, onQuiet, { keepsAlive: false })
}

function streamed(answer: Promise<Response>, quietMs: number, onLeave: () => void): Response {
  let timer: ReturnType<typeof setInterval> | undefined
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  let isOver = false
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(COMMENT)
      timer = setInterval(() => controller.enqueue(COMMENT), quietMs)
      setRef(timer, false)
    },
    async pull(controller) {
      try {
        reader ??= await events(answer)
      } finally {
        clearInterval(timer)
      }
      if (isOver) {
        await reader.cancel()
        return
      }
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel(reason) {
      isOver = true
      clearInterval(timer)
      onLeave()
      await reader?.cancel(reason)
    },
  })
  const headers = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
  }
  return new Response(body, { headers })
}

/** The events of an answer, which may be JSON or a stream. */
async function events(answer: Promise<Response>): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const response = await answer
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false
  const body = isStream
    ? response.body
    : new Response(`event: message\ndata: ${await response.text()}\n\n`).body
  return (body ?? new ReadableStream<Uint8Array>()).getReader()
}
