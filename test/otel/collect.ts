import type { SpanKind } from "@opentelemetry/api"
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace"
import type { ReadableSpan, Sampler } from "@opentelemetry/sdk-trace"
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics"

/** A span in short. */
export interface SeenSpan {
  readonly name: string
  readonly kind: SpanKind
  readonly traceId: string
  readonly spanId: string
  readonly parent: string | undefined
  readonly attributes: ReadableSpan["attributes"]
  readonly links: readonly string[]
  readonly events: readonly string[]
  readonly ms: number
  readonly status: ReadableSpan["status"]
}

/** A provider of the SDK that keeps its spans in memory. */
export function collect(sampler?: Sampler) {
  const exporter = new InMemorySpanExporter()
  const spanProcessors = [new SimpleSpanProcessor({ exporter })]
  const tracerProvider = new TracerProvider({ spanProcessors, ...(sampler && { sampler }) })
  const spans = (): SeenSpan[] =>
    exporter.getFinishedSpans().map((span) => ({
      name: span.name,
      kind: span.kind,
      traceId: span.spanContext().traceId,
      spanId: span.spanContext().spanId,
      parent: span.parentSpanContext?.spanId,
      attributes: span.attributes,
      links: span.links.map(({ context }) => context.spanId),
      events: span.events.map(({ name }) => name),
      ms: span.duration[0] * 1000 + span.duration[1] / 1e6,
      status: span.status,
    }))
  return { spans, tracerProvider, reset: () => exporter.reset() }
}

/** A meter provider of the SDK; `read` returns the points of all metrics. */
export function measure() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  const read = async () => {
    exporter.reset()
    await meterProvider.forceFlush()
    const all = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics)
    return Object.fromEntries(
      all.flatMap(({ metrics }) =>
        metrics.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints as Point[]]),
      ),
    )
  }
  return { meterProvider, read }
}

/** A point of a metric. */
export interface Point {
  readonly attributes: Readonly<Record<string, unknown>>
  readonly value: number & { readonly count?: number; readonly sum?: number }
}
