const LF = 10
const CR = 13

// Statuses without a body; `new Response` refuses a body for them.
const EMPTY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304])

/**
 * Wraps a response so that reading it fails as soon as one message exceeds the limit.
 *
 * In an event stream each event counts by itself; otherwise the whole body is the message. `exceeded` is
 * called then and returns the error for the reader.
 */
export function capBody(response: Response, limit: number, exceeded: () => Error): Response {
  const { body, status, statusText, headers } = response
  if (body === null || EMPTY.has(status) || status < 200) return response
  const isStream = /^\s*text\/event-stream\b/i.test(headers.get("content-type") ?? "")
  const count = isStream ? countEvent() : countAll()
  const announced = Number(headers.get("content-length") ?? Number.NaN)
  const isTooLarge = !isStream && !headers.has("content-encoding") && announced > limit
  const capped = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (isTooLarge || count(chunk) > limit) controller.error(exceeded())
        else controller.enqueue(chunk)
      },
    }),
  )
  return new Response(capped, { status, statusText, headers })
}

function countAll(): (chunk: Uint8Array) => number {
  let length = 0
  return (chunk) => (length += chunk.length)
}

/** Returns the size of the largest event that ends or continues in this chunk. */
function countEvent(): (chunk: Uint8Array) => number {
  let length = 0
  let isLineEmpty = true
  let last = 0
  return (chunk) => {
    let largest = 0
    for (const byte of chunk) {
      length++
      const isSecondOfBreak = byte === LF && last === CR
      last = byte
      if (isSecondOfBreak) continue
      const isBreak = byte === LF || byte === CR
      if (isBreak && isLineEmpty) {
        if (length > largest) largest = length
        length = 0
      }
      isLineEmpty = isBreak
    }
    return Math.max(largest, length)
  }
}
