/** The chunks of a stream. Leaving the loop early cancels it. */
export async function* chunksOf(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    // No effect at the end of the stream.
    reader.cancel().catch(() => undefined)
  }
}

/** The same bytes. Calls back at their end, with whether the reader left or the stream failed before it. */
export function watchedBody(
  body: ReadableStream<Uint8Array>,
  onEnd: (isCut: boolean) => void,
  strategy?: QueuingStrategy<Uint8Array>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let isOver = false
  const end = (isCut: boolean): void => {
    if (!isOver) onEnd(isCut)
    isOver = true
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          end(true)
          throw error
        })
        if (!done) return controller.enqueue(value)
        end(false)
        controller.close()
      },
      async cancel(reason) {
        end(true)
        await reader.cancel(reason).catch(() => undefined)
      },
    },
    strategy,
  )
}
