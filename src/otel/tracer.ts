import {
  context,
  createNoopMeter,
  metrics as api,
  ProxyTracerProvider,
  SpanKind,
  trace,
  type Attributes,
  type Span,
  type SpanOptions,
  type Tracer,
  type TracerProvider,
} from "@opentelemetry/api"
import type { CallError } from "../core/errors.ts"
import type { CallScope, CallTracer, TracedCall } from "../core/tracing.ts"
import { OTHER } from "../internal/bounded-names.ts"
import { compilePattern } from "../internal/pattern.ts"
import { ATTRIBUTE, SCOPE, SYSTEM } from "./conventions.ts"
import { CallMetrics } from "./metrics.ts"
import type { Observed } from "./observed.ts"
import type { IncomingTrace, InstrumentOptions } from "./options.ts"
import { attempt, MAX_NAME, OtelScope, recordValue, type Origin } from "./scope.ts"
import { contextWith, spanContextOf } from "./trace-context.ts"

const MAX_OPERATIONS = 1000

/** Makes spans and metrics of calls with the API of OpenTelemetry. */
export class OtelTracer implements CallTracer {
  readonly options: InstrumentOptions
  readonly #isIgnored: (id: string) => boolean
  #metrics: CallMetrics | undefined
  #isStopped = false
  #provider: TracerProvider | undefined
  #tracer: Tracer | undefined
  readonly #registry: Pick<Observed, "policyState">

  constructor(options: InstrumentOptions, registry: Pick<Observed, "policyState">) {
    this.options = options
    this.#registry = registry
    const ignored = (options.ignore ?? []).map(compilePattern)
    this.#isIgnored = (id) => ignored.some((matches) => matches(id))
  }

  /**
   * Asked for at each call: the application may set the global provider later, with a copy of the API of its own.
   * `undefined` without an SDK.
   */
  get tracer(): Tracer | undefined {
    const provider = this.options.tracerProvider ?? trace.getTracerProvider()
    if (provider !== this.#provider || this.#tracer === undefined) {
      this.#provider = provider
      const isProxy = provider instanceof ProxyTracerProvider
      this.#tracer = isProxy ? provider.getDelegateTracer(SCOPE) : provider.getTracer(SCOPE)
    }
    return this.#tracer
  }

  get metrics(): CallMetrics | undefined {
    if (this.#isStopped) return undefined
    if (this.#metrics !== undefined) return this.#metrics
    const { metrics = true, meterProvider, transports = {} } = this.options
    if (metrics === false) return undefined
    // Instruments of a process without an SDK stay silent for ever, and an application may start it later.
    if (meterProvider === undefined && api.getMeter(SCOPE) === createNoopMeter()) return undefined
    const max = metrics === true ? MAX_OPERATIONS : (metrics.operations ?? MAX_OPERATIONS)
    const registry = this.#registry
    this.#metrics = new CallMetrics(meterProvider, max, {
      transports,
      get policyState() {
        return registry.policyState
      },
    })
    return this.#metrics
  }

  begin(call: TracedCall): CallScope | undefined {
    const { operationId } = call
    if (!this.#isIgnored(operationId)) return this.#open(call, operationId)
    if (call.trace === undefined) return undefined
    // The calls that it makes belong to the trace of its caller all the same.
    const about = { operationId, isStream: false, isIgnored: true }
    return new OtelScope(this, this.#outermost(call), undefined, undefined, undefined, about)
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
    const from: Origin = parent ?? this.#outermost(call)
    const { metrics, tracer } = this
    const { entry } = call
    const isStream = call.type === "subscription"
    const running = metrics?.begin(id, entry && call.via, isStream)
    const isOutermost = parent === undefined || parent.isIgnored
    const isOwn = spans === "all" || (spans === "outermost" && isOutermost)
    const span = isOwn && tracer !== undefined ? this.#start(tracer, call, id, from) : undefined
    const mcp = entry !== undefined && call.via === "mcp" ? entry.attributes : undefined
    return new OtelScope(this, from, span, metrics, running, {
      operationId: call.operationId,
      isStream,
      mcp: mcp && ["mcpServer", mcp],
    })
  }

  #start(tracer: Tracer, call: TracedCall, id: string | undefined, from: Origin): Span {
    const { attributes, record } = this.options
    const { entry } = call
    // Assigned one by one: every call pays for it, and a spread costs more than the rest.
    const known: Attributes = {}
    if (attributes !== undefined && call.type)
      Object.assign(
        known,
        attempt(() => attributes(call)),
      )
    if (entry !== undefined) {
      Object.assign(known, entry.attributes)
      known[ATTRIBUTE.entry] = call.via
    }
    known[ATTRIBUTE.system] = SYSTEM
    known[ATTRIBUTE.method] = id ?? OTHER
    if (id === undefined) known[ATTRIBUTE.originalMethod] = call.operationId.slice(0, MAX_NAME)
    if (call.type !== undefined) known[ATTRIBUTE.type] = call.type
    const kind = entry === undefined ? SpanKind.INTERNAL : SpanKind.SERVER
    const name = (entry?.name ?? id ?? OTHER).slice(0, MAX_NAME)
    const settings: SpanOptions = { kind, attributes: known }
    if (from.links !== undefined) settings.links = from.links
    const span = tracer.startSpan(name, settings, from.context)
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
    if (trust === "ignore") return { context: ambient }
    if (trust === "link") {
      return { context: ambient, links: remote && [{ context: remote }] }
    }
    const { trace: sent } = call
    if (remote === undefined) return { context: contextWith(ambient, undefined, sent), sent }
    const active = trace.getSpanContext(ambient)
    // An HTTP instrumentation has continued the same trace already. A message says itself where it belongs.
    const isMessage = call.entry !== undefined && call.via !== "http"
    if (!isMessage && active?.traceId === remote.traceId) {
      return { context: contextWith(ambient, undefined, sent), sent }
    }
    const isLinked = active !== undefined && active.spanId !== remote.spanId
    return {
      context: contextWith(ambient, remote, sent),
      links: isLinked ? [{ context: active }] : undefined,
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
