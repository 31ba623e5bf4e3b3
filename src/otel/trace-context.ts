// Between the W3C headers and the contexts of OpenTelemetry.
import {
  createTraceState,
  isSpanContextValid,
  propagation,
  trace,
  type BaggageEntry,
  type Context,
  type SpanContext,
} from "@opentelemetry/api"
import type { TraceContext } from "../core/tracing.ts"

/** The span that a trace context names; it has been validated. */
export function spanContextOf(sent: TraceContext | undefined): SpanContext | undefined {
  if (sent?.traceparent === undefined) return undefined
  const [, traceId = "", spanId = "", flags = ""] = sent.traceparent.split("-")
  const context: SpanContext = {
    ...{ traceId, spanId, isRemote: true, traceFlags: Number.parseInt(flags, 16) & 1 },
    ...(sent.tracestate !== undefined && { traceState: createTraceState(sent.tracestate) }),
  }
  return isSpanContextValid(context) ? context : undefined
}

/** The headers for a span; `undefined` for one that is not valid. */
export function headersOf(span: SpanContext | undefined): TraceContext | undefined {
  if (span === undefined || !isSpanContextValid(span)) return undefined
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, "0")
  const tracestate = span.traceState?.serialize()
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(tracestate && { tracestate }),
  }
}

/** A context in which a remote span and its baggage are active. */
export function contextWith(
  base: Context,
  span: SpanContext | undefined,
  sent: TraceContext | undefined,
): Context {
  const context = span === undefined ? base : trace.setSpanContext(base, span)
  return sent?.baggage === undefined
    ? context
    : propagation.setBaggage(context, propagation.createBaggage(entriesOf(sent.baggage)))
}

/** The entries of a baggage header; those that are malformed are left out. */
function entriesOf(text: string): Record<string, BaggageEntry> {
  const entries = text.split(",").flatMap((member): [string, BaggageEntry][] => {
    const [pair = ""] = member.split(";", 1)
    const at = pair.indexOf("=")
    const key = pair.slice(0, at).trim()
    if (at < 1 || key === "") return []
    try {
      return [[key, { value: decodeURIComponent(pair.slice(at + 1).trim()) }]]
    } catch {
      return []
    }
  })
  return Object.fromEntries(entries)
}
