import {
  context,
  INVALID_TRACEID,
  isSpanContextValid,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Link,
  type Span,
  type Tracer,
} from "@opentelemetry/api"
import type {
  CallOutcome,
  CallScope,
  TraceAttributes,
  TraceContext,
  TraceDestination,
  TraceFields,
} from "../core/tracing.ts"
import { OTHER } from "../internal/bounded-names.ts"
import { redact, redactText } from "../internal/redact.ts"
import { ATTRIBUTE, TOOL_ERROR } from "./conventions.ts"
import type { CallMetrics, MCPEnd, Running } from "./metrics.ts"
import type { InstrumentOptions, RecordValue } from "./options.ts"
import { headersOf } from "./trace-context.ts"

export const MAX_NAME = 200
const MAX_VALUE = 4096
/** A code is a name; anything else may hold data. */
const CODE = /^[A-Za-z][A-Za-z\d_.-]{0,63}$/

/** What makes scopes. */
export interface ScopeOwner {
  readonly options: InstrumentOptions
  readonly tracer: Tracer | undefined
}

/** The context that a span starts in; the scope of a call is that of the calls that it makes. */
export interface Origin {
  readonly context: Context
  readonly links?: Link[] | undefined
  /** What the sender sent, if it is believed. */
  readonly sent?: TraceContext | undefined
}

/** What a scope needs to know of its call. */
interface About {
  readonly operationId: string
  readonly isStream: boolean
  /** It has neither spans nor metrics, and only carries a trace on. */
  readonly isIgnored?: boolean | undefined
  /** Set for an MCP request: which end this is, and its attributes. */
  readonly mcp?: readonly [MCPEnd, TraceAttributes] | undefined
}

/** A call, or an exchange of it. It keeps neither the call nor its result: exporters may be behind. */
export class OtelScope implements CallScope, Origin {
  readonly context: Context
  readonly sent: TraceContext | undefined
  readonly #owner: ScopeOwner
  readonly #span: Span | undefined
  readonly #metrics: CallMetrics | undefined
  readonly #running: Running | undefined
  readonly #about: About
  /** For metrics; spans have a time of their own. */
  readonly #began: number
  #isOver = false

  constructor(
    owner: ScopeOwner,
    { context: base, sent }: Origin,
    span: Span | undefined,
    metrics: CallMetrics | undefined,
    running: Running | undefined,
    about: About,
  ) {
    // Without an SDK there is no span to be found by what the call runs.
    const isNone = span === undefined || span.spanContext().traceId === INVALID_TRACEID
    this.context = isNone ? base : trace.setSpan(base, span)
    this.sent = sent
    this.#owner = owner
    this.#span = span
    this.#running = running
    this.#about = about
    this.#metrics = metrics
    this.#began = metrics === undefined ? 0 : performance.now()
  }

  get isIgnored(): boolean {
    return this.#about.isIgnored === true
  }

  run<T>(work: () => T): T {
    return context.with(this.context, work)
  }

  end(outcome: CallOutcome): void {
    this.#isOver = true
    const failed = errorTypeOf(outcome)
    const metrics = this.#metrics
    if (metrics !== undefined) {
      const seconds = (performance.now() - this.#began) / 1000
      const { isStream, mcp } = this.#about
      const ended = { items: outcome.items, errorType: failed, isStream }
      if (this.#running !== undefined) metrics.end(this.#running, seconds, ended)
      if (mcp !== undefined) metrics.mcp(mcp[0], seconds, mcp[1], failed)
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
      recordValue(span, ATTRIBUTE.output, record?.outputs, envelope.data, this.#about.operationId)
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
    if (this.#running !== undefined) this.#metrics?.event(this.#running, name, attributes)
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
    const known = { ...attributes, [ATTRIBUTE.to]: to }
    const settings = { kind: SpanKind.CLIENT, attributes: known }
    const isOwn = (options.spans ?? "all") === "all" && !this.isIgnored
    const span = isOwn
      ? tracer?.startSpan(name.slice(0, MAX_NAME), settings, this.context)
      : undefined
    return new OtelScope(this.#owner, this, span, this.#metrics, undefined, {
      operationId: this.#about.operationId,
      isStream: false,
      mcp: to === "mcp" ? ["mcpClient", attributes] : undefined,
    })
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

export function recordValue(
  span: Span,
  name: string,
  choice: boolean | RecordValue | undefined,
  value: unknown,
  operationId: string,
): void {
  if (choice === undefined || choice === false || value === undefined) return
  const kept = attempt(() => (choice === true ? redact(value) : choice(value, { operationId })))
  const text = attempt(() => JSON.stringify(kept) as string | undefined)
  if (text !== undefined) span.setAttribute(name, text.slice(0, MAX_VALUE))
}

/** The result of a function of the application; `undefined` if it throws or is asynchronous. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    const value = run()
    if (!(value instanceof Promise)) return value
    value.catch(() => undefined)
    return undefined
  } catch {
    return undefined
  }
}
