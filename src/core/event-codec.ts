import type { CallEvent } from "./events.ts"
import { decodeEnvelope, decodeValue, encodeEnvelope, encodeValue } from "./envelope-codec.ts"

/**
 * An event as JSON text, for transports that carry text.
 *
 * Bytes in inputs, metadata, answers and results come back as bytes, and a void result as void. Throws a `CallError`
 * that names the path where a value has no JSON form.
 */
export function encodeCallEvent(event: CallEvent): string {
  if (event.type === "call.requested") {
    const { value: input, binary } = encodeValue(event.input, "strict")
    const { value: metadata, binary: binaryMetadata } = encodeValue(event.metadata)
    if (input === event.input && metadata === event.metadata) return JSON.stringify(event)
    return JSON.stringify({ ...event, input, binary, metadata, binaryMetadata })
  }
  if (event.type === "call.answered") {
    const { value: response, binary } = encodeValue(event.response)
    return JSON.stringify({ ...event, response, binary })
  }
  if (event.type === "call.responded") {
    const output = encodeEnvelope(event.output)
    return JSON.stringify(output === event.output ? event : { ...event, output })
  }
  if (event.type === "call.error" && event.details !== undefined) {
    return JSON.stringify({ ...event, details: encodeValue(event.details).value })
  }
  return JSON.stringify(event)
}

/** Restores an event from its parsed JSON. Returns anything else unchanged; the receiver validates it. */
export function decodeCallEvent(wire: unknown): unknown {
  if (typeof wire !== "object" || wire === null) return wire
  const { type, binary } = wire as { readonly type?: unknown; readonly binary?: unknown }
  try {
    if (type === "call.responded") {
      const { output } = wire as { readonly output?: unknown }
      if (typeof output !== "object" || output === null) return wire
      // Only values without a JSON form have to be restored.
      if ("data" in output && !("binary" in output)) return wire
      return { ...wire, output: decodeEnvelope(output) }
    }
    const { binary: _, binaryMetadata, ...event } = wire as Record<string, unknown>
    if (binary === undefined && binaryMetadata === undefined) return wire
    if (type === "call.answered") event["response"] = decodeValue(event["response"], binary)
    if (type !== "call.requested") return event
    if (binary !== undefined) event["input"] = decodeValue(event["input"], binary)
    if (binaryMetadata !== undefined) {
      event["metadata"] = decodeValue(event["metadata"], binaryMetadata)
    }
    return event
  } catch {
    // `binary` names a place that has no bytes. The receiver answers a request without its fields as invalid.
    return { type, requestId: (wire as { readonly requestId?: unknown }).requestId }
  }
}
