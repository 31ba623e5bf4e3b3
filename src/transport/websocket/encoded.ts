import type { CallEvent } from "../../core/events.ts"
import { refusal } from "../../core/errors.ts"
import { utf8Length } from "../../internal/utf8.ts"
import { encodeEvent } from "./lazy-codec.ts"

/** An event and its encoded text. */
export interface EncodedEvent {
  readonly event: CallEvent
  readonly text: string
}

/** Encodes an event. Throws `PAYLOAD_TOO_LARGE` when it exceeds the limit of a frame. */
export function encodeWithin(event: CallEvent, maxFrameBytes: number): EncodedEvent {
  const text = encodeEvent(event)
  // A character has at most three bytes, so that most texts need not be measured.
  if (text.length * 3 > maxFrameBytes) {
    const bytes = text.length > maxFrameBytes ? text.length : utf8Length(text)
    if (bytes > maxFrameBytes) throw tooLarge(event, bytes, maxFrameBytes)
  }
  return { event, text }
}

/** The text of a frame: a single event, or a list of several. */
export function frameOf(items: readonly EncodedEvent[]): string {
  const [first] = items
  return items.length === 1 && first !== undefined
    ? first.text
    : `[${items.map(({ text }) => text).join(",")}]`
}

function tooLarge(event: CallEvent, bytes: number, maxFrameBytes: number): Error {
  const { requestId } = event
  const options = { requestId, details: { bytes, maxFrameBytes } }
  const advice = `The limit is ${maxFrameBytes} bytes (maxFrameBytes); send less, or a stream.`
  if (event.type === "call.requested") {
    const { operationId } = event
    return refusal(
      "PAYLOAD_TOO_LARGE",
      `Input for "${operationId}" takes at least ${bytes} bytes as JSON. ${advice}`,
      { ...options, operationId },
    )
  }
  return refusal(
    "PAYLOAD_TOO_LARGE",
    `Data of request "${requestId}" takes at least ${bytes} bytes as JSON. ${advice}`,
    { ...options, mayHaveExecuted: true },
  )
}
