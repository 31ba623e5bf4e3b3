import { isResponseEnvelope } from "../../core/envelope.ts"
import type * as CodecModule from "../../core/event-codec.ts"
import type { CallEvent } from "../../core/events.ts"
import { refusal } from "../../core/errors.ts"
import { NotReady } from "../../core/not-ready.ts"
import { isPlainJson } from "../../core/plain-json.ts"
import { isRecord } from "../../internal/guards.ts"
import { utf8Length } from "../../internal/utf8.ts"

let codec: typeof CodecModule | undefined

/** Loads what only events with bytes need. */
export async function loadCodec(): Promise<void> {
  codec ??= await import("../../core/event-codec.ts")
}

/** An event as JSON text. Throws `NotReady` for the first one that `JSON.stringify` cannot encode. */
function encodeEvent(event: CallEvent): string {
  if (contentOf(event).every(isPlainJson)) return JSON.stringify(event)
  if (codec !== undefined) return codec.encodeCallEvent(event)
  throw new NotReady("The module for bytes was not loaded.", loadCodec)
}

/** Whether a frame has events that cannot be decoded before `loadCodec`. */
export function needsCodec(frame: unknown): boolean {
  return codec === undefined && (Array.isArray(frame) ? frame.some(hasBytes) : hasBytes(frame))
}

function hasBytes(wire: unknown): boolean {
  if (!isRecord(wire)) return false
  if ("binaryMetadata" in wire) return true
  return "binary" in (isRecord(wire["output"]) ? wire["output"] : wire)
}

/** Restores an event from its parsed JSON. Returns anything else unchanged; the receiver validates it. */
export function decodeEvent(wire: unknown): unknown {
  if (codec !== undefined) return codec.decodeCallEvent(wire)
  const output = isRecord(wire) ? wire["output"] : undefined
  // A void result has no data in JSON.
  if (!isResponseEnvelope(output) || Object.hasOwn(output, "data")) return wire
  return { ...(wire as object), output: { data: undefined, meta: output.meta } }
}

/** The parts of an event that users make. */
function contentOf(event: CallEvent): readonly unknown[] {
  if (event.type === "call.requested") return [event.input, event.metadata]
  if (event.type === "call.responded") return [event.output]
  if (event.type === "call.answered") return [event.response]
  return event.type === "call.error" ? [event.details] : []
}

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
    const message = `Input for "${operationId}" takes at least ${bytes} bytes as JSON. ${advice}`
    return refusal("PAYLOAD_TOO_LARGE", message, { ...options, operationId })
  }
  const message = `Data of request "${requestId}" takes at least ${bytes} bytes as JSON. ${advice}`
  return refusal("PAYLOAD_TOO_LARGE", message, { ...options, mayHaveExecuted: true })
}
