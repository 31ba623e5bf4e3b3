import { EventSourceParserStream } from "eventsource-parser/stream"
import { unexpectedAnswer } from "./problems.ts"

export interface StreamEvent {
  readonly id: string | undefined
  /** The type of the event; `message` by default. */
  readonly name: string
  readonly data: string
}

/** The server-sent events of a response, until it ends. Leaving the loop ends the request. */
export async function* readEvents(response: Response): AsyncGenerator<StreamEvent, void, void> {
  const type = response.headers.get("content-type") ?? ""
  if (response.body === null || !type.startsWith("text/event-stream")) {
    await response.body?.cancel()
    throw unexpectedAnswer(`A stream of type "${type}"`)
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
    // Cancelling a failed stream fails with the same error, which has been reported.
    reader.cancel().catch(() => undefined)
  }
}
