import {
  context,
  isSpanContextValid,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type Tracer,
} from "@opentelemetry/api"
import type { CallError } from "../core/errors.ts"
import type {
  CallOutcome,
  CallScope,
  CallTracer,
  TraceAttributes,
  TraceContext,
  TraceDestination,
  TracedCall,
  TraceFields,
} from "../core/tracing.ts"
import { compilePattern } from "../internal/pattern.ts"
import { redact, redactText } from "../internal/redact.ts"
import { ATTRIBUTE, OTHER, SCOPE, SYSTEM, TOOL_ERROR } from "./conventions.ts"
import { CallMetrics, type Running } from "./metrics.ts"
import type { IncomingTrace, InstrumentOptions, RecordValue } from "./options.ts"
import { contextWith, headersOf, spanContextOf } from "./trace-context.ts"

const MAX_NAME = 200
const MAX_VALUE = 4096
const MAX_OPERATIONS = 1000
/** A code is a name; anything else may hold data. */
const CODE = /^[A-Za-z][A-Za-z\d_.-]{0,63}$/

/** Makes spans and metrics of calls with the API of OpenTelemetry. */
export class OtelTracer implements CallTracer {
  readonly options: InstrumentOptions
  readonly #isIgnored: (id: string) => boolean
  #tracer: Tracer | undefined
  #metrics: CallMetrics | undefined
  #isStopped = false

  constructor(options: InstrumentOptions) {
    this.options = options
    const ignored = (options.ignore ?? []).map(compilePattern)
    this.#isIgnored = (id) => ignored.some((matches) => matches(id))
  }

  /** Asked for at the first call: the application may set the global provider after us. */
  get tracer(): Tracer {
    return (this.#tracer ??= (this.options.tracerProvider ?? trace).getTracer(SCOPE))
  }

  get metrics(): CallMetrics | undefined {
    const { metrics = true, meterProvider } = this.options
    if (metrics === false || this.#isStopped) return undefined
    const max = metrics === true ? MAX_OPERATIONS : (metrics.operations ?? MAX_OPERATIONS)
    return (this.#metrics ??= new CallMetrics(meterProvider, max))
  }

  begin(call: TracedCall): CallScope | undefined {
    if (this.#isIgnored(call.operationId)) return undefined
    return this.#open(call, call.operationId)
  }

  refused(call: TracedCall, error: CallError): void {
    if (this.#isIgnored(call.operationId)) return
    this.#open(call, undefined).end({ outcome: "error", error, items: 0 })
  }

  /** `false` if it was stopped before. */
  stop(): boolean {
    const wasRunning = !this.#isStopped
    this.#isStopped = true
    this.#metrics?.stop()
    return wasRunning
  }

  /** `id` is `undefined` for an operation that does not exist: callers choose such ids. */
  #open(call: TracedCall, id: string | undefined): OtelScope {
    const { spans = "all" } = this.options
    const parent = call.parent as OtelScope | undefined
    const from = parent === undefined ? this.#outermost(call) : { base: parent.context, links: [] }
    const sent = parent === undefined ? from.sent : parent.sent
    const running = this.metrics?.begin(id, call.entry && call.via)
    const isOwn = spans === "all" || (spans === "outermost" && parent === undefined)
    const span = isOwn ? this.#start(call, id, from) : undefined
    return new OtelScope(this, from.base, span, sent, running, call.operationId)
  }

  #start(call: TracedCall, id: string | undefined, { base, links }: Origin): Span {
    const { attributes, record } = this.options
    const { entry } = call
    const known: Attributes = {
      ...(attributes && call.type && attempt(() => attributes(call))),
      ...entry?.attributes,
      [ATTRIBUTE.system]: SYSTEM,
      [ATTRIBUTE.method]: id ?? OTHER,
      ...(id === undefined && { [ATTRIBUTE.originalMethod]: call.operationId.slice(0, MAX_NAME) }),
      ...(call.type !== undefined && { [ATTRIBUTE.type]: call.type }),
      ...(entry !== undefined && { [ATTRIBUTE.entry]: call.via }),
    }
    const kind = entry === undefined ? SpanKind.INTERNAL : SpanKind.SERVER
    const name = (entry?.name ?? id ?? OTHER).slice(0, MAX_NAME)
    const span = this.tracer.startSpan(name, { kind, attributes: known, links: [...links] }, base)
    if (!span.isRecording()) return span
    if (call.requestId !== undefined) span.setAttribute(ATTRIBUTE.requestId, call.requestId)
    if (record?.identity === true && typeof call.identity?.id === "string") {
      span.setAttribute(ATTRIBUTE.user, call.identity.id)
    }
    recordValue(span, ATTRIBUTE.input, record?.inputs, call.input, call.operationId)
    return span
  }

  /** Where the trace of an outermost call comes from. */
  #outermost(call: TracedCall): Origin {
    const ambient = context.active()
    const remote = spanContextOf(call.trace)
    const trust = this.#trustOf(call)
    if (trust === "ignore") return { base: ambient, links: [] }
    if (trust === "link") {
      return { base: ambient, links: remote === undefined ? [] : [{ context: remote }] }
    }
    const active = trace.getSpanContext(ambient)
    const { trace: sent } = call
    // An HTTP instrumentation has continued the same trace already. A message says itself where it belongs.
    const isMessage = call.entry !== undefined && call.via !== "http"
    const isContinued = !isMessage && active?.traceId === remote?.traceId
    if (remote === undefined || isContinued) {
      return { base: contextWith(ambient, undefined, sent), links: [], sent }
    }
    const isLinked = active !== undefined && active.spanId !== remote.spanId
    return {
      base: contextWith(ambient, remote, sent),
      links: isLinked ? [{ context: active }] : [],
      sent,
    }
  }

  #trustOf(call: TracedCall): IncomingTrace {
    const { entry, identity } = call
    if (entry === undefined) return "continue"
    const { incoming } = this.options
    if (typeof incoming === "string") return incoming
    if (incoming === undefined) {
      return entry.isPublic && identity === undefined ? "link" : "continue"
    }
    const { operationId, via } = call
    const chosen = attempt(() => incoming(entry, { operationId, identity, via }))
    return chosen === "continue" || chosen === "ignore" ? chosen : "link"
  }
}

/** The context that a span starts in. */
interface Origin {
  readonly base: Context
  readonly links: readonly Link[]
  /** What the sender sent, if it is believed. */
  readonly sent?: TraceContext | undefined
}

/** A call, or an exchange of it. It keeps neither the call nor its result: exporters may be behind. */
class OtelScope implements CallScope {
  readonly context: Context
  readonly sent: TraceContext | undefined
  readonly #owner: OtelTracer
  readonly #span: Span | undefined
  readonly #running: Running | undefined
  readonly #operationId: string
  readonly #began = performance.now()
  #isOver = false

  constructor(
    owner: OtelTracer,
    base: Context,
    span: Span | undefined,
    sent: TraceContext | undefined,
    running: Running | undefined,
    operationId: string,
  ) {
    this.context = span === undefined ? base : trace.setSpan(base, span)
    this.sent = sent
    this.#owner = owner
    this.#span = span
    this.#running = running
    this.#operationId = operationId
  }

  run<T>(work: () => T): T {
    return context.with(this.context, work)
  }

  end(outcome: CallOutcome): void {
    this.#isOver = true
    const failed = errorTypeOf(outcome)
    if (this.#running !== undefined) {
      const seconds = (performance.now() - this.#began) / 1000
      this.#owner.metrics?.end(this.#running, seconds, outcome, failed)
    }
    const span = this.#span
    if (span === undefined) return
    if (span.isRecording()) this.#describe(span, outcome, failed)
    span.end()
  }

  #describe(span: Span, outcome: CallOutcome, failed: string | undefined): void {
    const { error, envelope, items, attributes } = outcome
    const { record } = this.#owner.options
    if (attributes !== undefined) span.setAttributes(attributes)
    if (items > 0) span.setAttribute(ATTRIBUTE.items, items)
    if (envelope !== undefined) {
      span.setAttribute(ATTRIBUTE.source, envelope.meta.source)
      recordValue(span, ATTRIBUTE.output, record?.outputs, envelope.data, this.#operationId)
    }
    if (outcome.outcome === "aborted") span.setAttribute(ATTRIBUTE.outcome, "aborted")
    if (failed === undefined) return
    span.setAttribute(ATTRIBUTE.errorType, failed)
    if (error !== undefined) {
      span.setAttributes({
        [ATTRIBUTE.statusCode]: failed,
        [ATTRIBUTE.retryable]: error.retryable,
        [ATTRIBUTE.mayHaveExecuted]: error.mayHaveExecuted,
      })
    }
    const hasMessage = record?.messages === true && typeof error?.message === "string"
    const message = hasMessage ? { message: redactText(error.message).slice(0, MAX_VALUE) } : {}
    span.setStatus({ code: SpanStatusCode.ERROR, ...message })
  }

  event(name: string, attributes: TraceAttributes): void {
    // Work that callers share may go on after the call that started it.
    if (this.#isOver) return
    if (this.#running !== undefined) this.#owner.metrics?.event(this.#running, name, attributes)
    this.#span?.addEvent(name, attributes)
  }

  carrier(to: TraceDestination): TraceContext {
    const { outgoing } = this.#owner.options
    const what =
      (typeof outgoing === "function" ? attempt(() => outgoing(to)) : outgoing) ??
      (to === "remote" ? "all" : "trace")
    if (what === "none") return {}
    const baggage = this.sent?.baggage
    return {
      ...headersOf(trace.getSpanContext(this.context)),
      ...(what === "all" && baggage !== undefined && { baggage }),
    }
  }

  child(name: string, to: TraceDestination, attributes: TraceAttributes): CallScope | undefined {
    const { tracer, options } = this.#owner
    if ((options.spans ?? "all") !== "all") return undefined
    const known = { ...attributes, [ATTRIBUTE.to]: to }
    const settings = { kind: SpanKind.CLIENT, attributes: known }
    const span = tracer.startSpan(name.slice(0, MAX_NAME), settings, this.context)
    return new OtelScope(this.#owner, this.context, span, this.sent, undefined, this.#operationId)
  }

  fields(): TraceFields | undefined {
    const span = trace.getSpanContext(this.context)
    if (span === undefined || !isSpanContextValid(span)) return undefined
    const trace_flags = (span.traceFlags & 0xff).toString(16).padStart(2, "0")
    return { trace_id: span.traceId, span_id: span.spanId, trace_flags }
  }
}

/** `error.type` of an outcome; `undefined` for one that is no failure. */
function errorTypeOf({ outcome, error, envelope }: CallOutcome): string | undefined {
  if (outcome !== "error") return undefined
  if (error === undefined) return envelope === undefined ? OTHER : TOOL_ERROR
  const { code } = error
  return typeof code === "string" && CODE.test(code) ? code : OTHER
}

function recordValue(
  span: Span,
  name: string,
  choice: boolean | RecordValue | undefined,
  value: unknown,
  operationId: string,
): void {
  if (choice === undefined || choice === false || value === undefined) return
  const text = attempt(() => {
    const kept = choice === true ? redact(value) : choice(value, { operationId })
    return kept === undefined ? undefined : JSON.stringify(kept)
  })
  if (text !== undefined) span.setAttribute(name, text.slice(0, MAX_VALUE))
}

/** The result of a function of the application; `undefined` if it throws. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
