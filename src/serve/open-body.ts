import { NODE_MOUNT, bodyGone } from "./body-text.ts"
import type { HTTPRequestLike, HTTPResponseLike } from "./node-types.ts"
import { cutOff, isBody } from "./read-body.ts"

const HIGH_WATER = 64 * 1024

/**
 * Opens the body of a Node request as a stream that arrives as fast as it is read.
 *
 * If other code has read the body, `provided` or the parsed body on the request may have its bytes. What is left when
 * the response has been sent is dropped, so that the connection can be used again.
 */
export function openNodeBody(
  request: HTTPRequestLike,
  response: HTTPResponseLike,
  provided: unknown,
): ReadableStream<Uint8Array> {
  const isRead = request.readableEnded === true || request.readableDidRead === true
  const parsed = isBody(provided) ? provided : isRead ? request.body : undefined
  if (parsed instanceof Uint8Array) return streamOf([parsed])
  if (isRead || parsed !== undefined) throw bodyGone(NODE_MOUNT)
  if (request.destroyed === true) throw cutOff()
  let isOver = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = (finish: () => void): void => {
          if (isOver) return
          isOver = true
          finish()
        }
        const fail = (): void => end(() => controller.error(cutOff()))
        request.on("data", (chunk) => {
          if (isOver) return
          controller.enqueue(chunk)
          if ((controller.desiredSize ?? 0) <= 0) request.pause?.()
        })
        request.on("end", () => end(() => controller.close()))
        request.on("close", fail)
        // Without a listener a connection error would end the process.
        request.on("error", fail)
        response.once("finish", () => {
          fail()
          request.resume()
        })
      },
      pull: () => void request.resume(),
      cancel() {
        isOver = true
        request.resume()
      },
    },
    { highWaterMark: HIGH_WATER, size: (chunk) => chunk?.byteLength ?? 0 },
  )
}

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}
