const LF = 10
const CR = 13

// Statuses whose answers have no body, and with which none may be made.
const EMPTY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304])

/**
 * An answer that fails as soon as one message in it is larger than allowed.
 *
 * In a stream of events each one is counted by itself; otherwise the whole body is the message.
 * `exceeded` is told, and gives the error that the reader gets.
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

/** The largest event so far in this chunk, counted from the last empty line. */
function countEvent(): (chunk: Uint8Array) => number {
  let length = 0
  let isLineEmpty = true
  let last = 0
  return (chunk) => {
    let largest = 0
    for (const byte of chunk) {
      length++
      if (byte === LF && last === CR) {
        last = byte
        continue
      }
      last = byte
      if (byte !== LF && byte !== CR) {
        isLineEmpty = false
        continue
      }
      if (isLineEmpty) {
        if (length > largest) largest = length
        length = 0
      }
      isLineEmpty = true
    }
    return Math.max(largest, length)
  }
}
