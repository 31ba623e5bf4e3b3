/** The cost of tracing and of rules around a call, in spans of the OpenTelemetry SDK. */
import { context } from "@opentelemetry/api"
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks"
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics"
import {
  AlwaysOffSampler,
  BatchSpanProcessor,
  TracerProvider,
  type SpanExporter,
} from "@opentelemetry/sdk-trace"
import type { ApprovalRule } from "../../src/core/approvals.ts"
import { QUOTE, quoteInputs, type QuoteInput } from "./cases.ts"
import type { Goal } from "./goals.ts"
import type { AroundLibrary } from "./library.ts"
import { callLoop, measure, type Effort, type Measurement, type Workload } from "./measure.ts"
import { section } from "./table.ts"

export interface AroundResults {
  readonly around: readonly Measurement[]
}

const SPAN = "a span of the SDK by itself"

/** Each row, and its maximum cost relative to that of a span. */
const MAX: Readonly<Record<string, number>> = {
  "traced, without an SDK": 0.5,
  "traced, sampled out": 1.2,
  "traced, sampled": 2,
  "traced, sampled, with metrics": 3,
  "20 rules of approvals": 1,
}

const NOWHERE: SpanExporter = {
  export: (_spans, done) => done({ code: 0 }),
  shutdown: async () => {},
}

class Unread extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** Measures calls with and without what is around them, side by side. */
export async function measureAround(
  { createRegistry, defineOperation, instrument }: AroundLibrary,
  effort: Effort,
): Promise<AroundResults> {
  const define = () => defineOperation(QUOTE)
  const exported = () => [new BatchSpanProcessor({ exporter: NOWHERE })]
  const tracerProvider = new TracerProvider({ spanProcessors: exported() })
  const silent = new TracerProvider({ sampler: new AlwaysOffSampler(), spanProcessors: exported() })
  const meterProvider = new MeterProvider({ readers: [new Unread()] })
  const rules = Array.from({ length: 20 }, (_, at): ApprovalRule => ({
    match: `shop.other${at}.*`,
    type: "mutation",
    decide: "deny",
  }))
  const plain = createRegistry({ shop: { quote: define() } })
  const ruled = createRegistry({ shop: { quote: define() } }, { approvals: rules })
  const traced = [
    {},
    { tracerProvider: silent, metrics: false },
    { tracerProvider, metrics: false },
    { tracerProvider, meterProvider },
  ].map((options) => {
    const registry = createRegistry({ shop: { quote: define() } })
    instrument(registry, options)
    return registry
  })
  const tracer = tracerProvider.getTracer("bench")
  const spanned = async (): Promise<void> => tracer.startSpan("shop.quote").end()
  const row = (registry: typeof plain, at: number): Workload => {
    const name = Object.keys(MAX)[at] ?? "execute"
    const call = (input: QuoteInput) => registry.execute("shop.quote", input)
    return { name, run: callLoop(name, call, quoteInputs) }
  }
  const span: Workload = { name: SPAN, run: callLoop("span", spanned, quoteInputs) }
  const [withoutSDK, ...withSDK] = traced.map(row)
  try {
    const bare = await measure([span, row(plain, -1), withoutSDK!, row(ruled, 4)], effort)
    // It comes with an SDK, and makes every promise of the process more expensive.
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    const within = await measure([span, ...withSDK], effort)
    return { around: [...bare, ...within.slice(1)] }
  } finally {
    context.disable()
    await Promise.all([tracerProvider, silent, meterProvider].map((one) => one.shutdown()))
    await Promise.all([plain, ruled, ...traced].map((registry) => registry.close()))
  }
}

/** The rows, as plain text. */
export function aroundTables({ around }: AroundResults): string[] {
  return [section(`Tracing and rules; times ${SPAN}`, around)]
}

/** The goals for what is around a call. */
export function aroundGoals({ around }: AroundResults): Goal[] {
  return Object.entries(MAX).map(([name, max]) => {
    const ratio = around.find((row) => row.name === name)?.ratio.median ?? Number.NaN
    return {
      goal: `${name}: at most ${max} times a span`,
      measured: ratio.toFixed(2),
      isMet: ratio <= max,
    }
  })
}
