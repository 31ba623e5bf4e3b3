import { addSignalListener, removeSignalListener } from "../internal/signals.ts"
import { abortError, networkFailure } from "./request-errors.ts"
import type { RequestContext } from "./request-errors.ts"

/**
 * Yields the chunks of a body, each when the consumer asks for it.
 *
 * Leaving the loop or aborting cancels the body, which closes the connection. This function listens to the
 * signal itself, since not every `fetch` does so once it has returned a response.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array>,
  context: RequestContext,
): AsyncGenerator<Uint8Array, void, void> {
  const { signal } = context
  const reader = body.getReader()
  const stop = (): void => {
    // Rejects for a body that already failed; there is nothing left to close then.
    reader.cancel(signal.reason).catch(() => undefined)
  }
  const listener = { handleEvent: stop }
  addSignalListener(signal, listener)
  try {
    for (;;) {
      // A pending read ends when the body is cancelled.
      if (signal.aborted) throw abortError(context)
      const { done, value } = await reader.read()
      if (signal.aborted) throw abortError(context)
      if (done) return
      yield value
    }
  } catch (thrown) {
    throw networkFailure(thrown, context)
  } finally {
    removeSignalListener(signal, listener)
    stop()
  }
}
