import { addSignalListener, removeSignalListener } from "../internal/signals.ts"
import { abortion, networkFailure } from "./failure.ts"
import type { RequestContext } from "./failure.ts"

/**
 * The chunks of a body, one for each time the consumer asks.
 *
 * Whoever leaves the loop, or aborts, cancels the body: that closes the connection. The signal is
 * heard here too, since not every `fetch` listens to it once it has answered.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array>,
  context: RequestContext,
): AsyncGenerator<Uint8Array, void, void> {
  const { signal } = context
  const reader = body.getReader()
  const stop = (): void => {
    // A body that broke off already rejects this; there is nothing left to close then.
    reader.cancel(signal.reason).catch(() => undefined)
  }
  const listener = { handleEvent: stop }
  addSignalListener(signal, listener)
  try {
    for (;;) {
      // A read that is waiting ends when the body is cancelled.
      if (signal.aborted) throw abortion(context)
      const { done, value } = await reader.read()
      if (signal.aborted) throw abortion(context)
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
