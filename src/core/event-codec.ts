import type { CallEvent } from "./events.ts"
import { decodeEnvelope, decodeValue, encodeEnvelope, encodeValue } from "./envelope-codec.ts"

/**
 * An event as JSON text, for transports that carry text.
 *
 * Bytes in inputs and results come back as bytes, and a void result as void. Throws a `CallError`
 * that names the path where a value has no JSON form.
 */
export function encodeCallEvent(event: CallEvent): string {
  if (event.type === "call.requested") {
    const { value, binary } = encodeValue(event.input)
    if (value === event.input) return JSON.stringify(event)
    return JSON.stringify({ ...event, input: value, binary })
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
    if (type !== "call.requested" || binary === undefined) return wire
    const { binary: _, input, ...event } = wire as Record<string, unknown>
    return { ...event, input: decodeValue(input, binary) }
  } catch {
    // `binary` names a place that has no bytes.
    return undefined
  }
}
