import { EventSourceParserStream } from "eventsource-parser/stream"
import { notAnAnswer } from "./problems.ts"

export interface StreamEvent {
  readonly id: string | undefined
  /** What kind of event; `message` where it does not say. */
  readonly name: string
  readonly data: string
}

/** The server-sent events of an answer, until it ends. Whoever leaves the loop ends the request. */
export async function* readEvents(response: Response): AsyncGenerator<StreamEvent, void, void> {
  const type = response.headers.get("content-type") ?? ""
  if (response.body === null || !type.startsWith("text/event-stream")) {
    await response.body?.cancel()
    throw notAnAnswer(`A stream of type "${type}"`)
  }
  const reader = response.body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream())
    .getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield { id: value.id, name: value.event ?? "message", data: value.data }
    }
  } finally {
    // Cancelling what has failed already fails in the same way; that has been told.
    reader.cancel().catch(() => undefined)
  }
}
