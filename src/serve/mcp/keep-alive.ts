import { setRef } from "../../internal/defer.ts"
import { systemClock } from "../../internal/clock.ts"
import { Deadlines } from "../../internal/deadlines.ts"
import type { DeadlineEntry } from "../../internal/deadlines.ts"
import { isEventStream, TextAnswer } from "./answers.ts"
import type { Answer } from "./answers.ts"

const COMMENT = new TextEncoder().encode(": keepalive\n\n")

/**
 * Starts a response in time, even if its answer is late.
 *
 * After `quietMs` it becomes an event stream with regular comments, so that no proxy
 * closes the silent connection; the answer is its only event. `onLeave` is called when the client disconnects first.
 */
export function inTime(
  answer: Promise<Answer>,
  quietMs: number,
  onLeave: () => void,
): Promise<Answer> {
  if (!Number.isFinite(quietMs) || quietMs < 1) return answer
  return new Promise((resolve, reject) => {
    const silence = new Silence(quietMs, () => resolve(streamed(answer, quietMs, onLeave)))
    silences.addUndated(silence)
    answer.then(
      (settled) => {
        silence.end()
        resolve(settled)
      },
      (error: unknown) => {
        silence.end()
        reject(error)
      },
    )
  })
}

/** One timer for all requests: most have their answer before a timer would be set. */
const silences = new Deadlines(systemClock)

/** A request that has no answer yet. */
class Silence implements DeadlineEntry {
  isOver = false
  listedIn: DeadlineEntry["listedIn"] = undefined
  dueBefore: DeadlineEntry | undefined = undefined
  dueAfter: DeadlineEntry | undefined = undefined
  readonly expire: () => void
  readonly #quietMs: number
  #due = Number.POSITIVE_INFINITY

  constructor(quietMs: number, expire: () => void) {
    this.#quietMs = quietMs
    this.expire = expire
  }

  due(now?: number): number {
    if (now !== undefined) this.#due = now + this.#quietMs
    return this.#due
  }

  end(): void {
    this.isOver = true
    silences.remove(this)
  }
}

function streamed(answer: Promise<Answer>, quietMs: number, onLeave: () => void): Response {
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
async function events(answer: Promise<Answer>): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const response = await answer
  const isText = response instanceof TextAnswer
  if (!isText && isEventStream(response)) return readerOf(response.body)
  const text = isText ? (response.body ?? "") : await response.text()
  return readerOf(new Response(`event: message\ndata: ${text}\n\n`).body)
}

function readerOf(
  body: ReadableStream<Uint8Array> | null,
): ReadableStreamDefaultReader<Uint8Array> {
  return (body ?? new ReadableStream<Uint8Array>()).getReader()
}
