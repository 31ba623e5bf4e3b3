// The tracers of a registry, and their scopes of its calls.
import {
  readTrace,
  traceIn,
  type CallOutcome,
  type CallScope,
  type CallTracer,
  type CallTracing,
  type CarriesTrace,
  type FromEntry,
  type TraceAttributes,
  type TraceContext,
  type TraceDestination,
  type TracedCall,
  type TraceFields,
} from "../core/tracing.ts"
import type { CallError } from "../core/errors.ts"
import type { CallOptions } from "../core/types.ts"
import { withFields, type Logger } from "../internal/logger.ts"
import { typeName } from "../internal/message-text.ts"
import type { Call } from "./call.ts"

interface Part {
  readonly tracer: CallTracer
  readonly scope: CallScope
}

/** The tracers of a registry. One that throws is logged once, and harms no call. */
export class Tracers {
  readonly #tracers = new Set<CallTracer>()
  readonly #failed = new WeakSet<CallTracer>()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  get size(): number {
    return this.#tracers.size
  }

  /** Adds a tracer; returns a function that removes it. */
  add(tracer: CallTracer): () => void {
    if (typeof (tracer as Partial<CallTracer> | null | undefined)?.begin !== "function") {
      throw new TypeError(
        `trace(tracer): must be an object with a function begin(), got ${typeName(tracer)}.`,
      )
    }
    if (this.#tracers.has(tracer)) throw new TypeError("trace(tracer): this tracer traces already.")
    this.#tracers.add(tracer)
    return () => void this.#tracers.delete(tracer)
  }

  begin(call: Call, input: unknown): CallScope | undefined {
    let parts: readonly Part[] | undefined
    // No closures on this way, and no array that grows: every call pays for them.
    for (const tracer of this.#tracers) {
      try {
        const scope = tracer.begin(new CallToTrace(call, input, tracer))
        if (scope === undefined) continue
        this.settle(tracer, scope)
        const part = { tracer, scope }
        parts = parts === undefined ? [part] : [...parts, part]
      } catch (error) {
        this.report(tracer, error)
      }
    }
    return parts === undefined ? undefined : new Scopes(this, parts)
  }

  refused(
    operationId: string,
    options: CallOptions | undefined,
    parent: Call | undefined,
    error: CallError,
  ): void {
    for (const tracer of this.#tracers) {
      this.guard(tracer, () => {
        const call: TracedCall = {
          operationId,
          type: undefined,
          requestId: options?.requestId,
          parentRequestId: parent?.requestId ?? options?.parentRequestId,
          parent: scopeFor(parent, tracer),
          via: parent?.via ?? options?.via ?? "call",
          entry: parent === undefined ? (options as FromEntry | undefined)?.entry : undefined,
          trace: parent === undefined ? sentBy(options) : undefined,
          traceId: parent === undefined ? traceIdOf(sentBy(options)) : undefined,
          identity: parent?.identity ?? options?.identity,
          input: undefined,
        }
        tracer.refused?.(call, error)
      })
    }
  }

  /** Runs a function of a tracer; `undefined` if it throws. */
  guard<T>(tracer: CallTracer, run: () => T): T | undefined {
    try {
      const value = run()
      this.settle(tracer, value)
      return value
    } catch (error) {
      this.report(tracer, error)
      return undefined
    }
  }

  /** An async function of a tracer is not waited for, but it must not end the process. */
  settle(tracer: CallTracer, returned: unknown): void {
    if (returned instanceof Promise) returned.catch((error) => this.report(tracer, error))
  }

  report(tracer: CallTracer, error: unknown): void {
    if (this.#failed.has(tracer)) return
    this.#failed.add(tracer)
    this.#logger.error("A tracer threw; further errors of it are not logged", { error })
  }
}

/** The scopes of one call, one for each tracer, as one scope that never throws by itself. */
class Scopes implements CallScope {
  readonly #tracers: Tracers
  readonly parts: readonly Part[]

  constructor(tracers: Tracers, parts: readonly Part[]) {
    this.#tracers = tracers
    this.parts = parts
  }

  /** Every tracer has a part. */
  get isComplete(): boolean {
    return this.parts.length >= this.#tracers.size
  }

  /** These, and those of tracers that have none here. */
  with({ parts }: Scopes): Scopes {
    const more = parts.filter(({ tracer }) => !this.parts.some((own) => own.tracer === tracer))
    return more.length === 0 ? this : new Scopes(this.#tracers, [...this.parts, ...more])
  }

  /** The outcome is that of `work`, which runs exactly once, whatever the tracers do. */
  run<T>(work: () => T): T {
    let value: T | undefined
    let thrown: unknown
    let state: "new" | "done" | "threw" = "new"
    const once = (): void => {
      if (state !== "new") return
      state = "done"
      try {
        value = work()
      } catch (error) {
        state = "threw"
        thrown = error
      }
    }
    this.#enter(0, once)
    once()
    if ((state as string) === "threw") throw thrown
    return value as T
  }

  #enter(at: number, work: () => void): void {
    const { tracer, scope } = this.parts[at] as Part
    const isLast = at === this.parts.length - 1
    try {
      this.#tracers.settle(tracer, scope.run(isLast ? work : () => this.#enter(at + 1, work)))
    } catch (error) {
      this.#tracers.report(tracer, error)
    }
  }

  end(outcome: CallOutcome): void {
    for (const { tracer, scope } of this.parts) {
      try {
        this.#tracers.settle(tracer, scope.end(outcome))
      } catch (error) {
        this.#tracers.report(tracer, error)
      }
    }
  }

  item(): void {
    this.#each(({ scope }) => scope.item?.())
  }

  event(name: string, attributes: TraceAttributes): void {
    this.#each(({ scope }) => scope.event?.(name, attributes))
  }

  log(level: string, message: string): void {
    this.#each(({ scope }) => scope.log?.(level, message))
  }

  carrier(to: TraceDestination): TraceContext | undefined {
    return this.#first(({ scope }) => {
      const carrier = scope.carrier?.(to)
      // It becomes headers: what is not valid there would fail the request.
      return carrier && (readTrace((name) => carrier[name]) ?? {})
    })
  }

  fields(): TraceFields | undefined {
    return this.#first(({ scope }) => {
      const fields = scope.fields?.()
      return fields && { ...fields }
    })
  }

  child(name: string, to: TraceDestination, attributes: TraceAttributes): CallScope | undefined {
    const parts: Part[] = []
    this.#each(({ tracer, scope }) => {
      const child = scope.child?.(name, to, attributes)
      if (child === undefined) return
      this.#tracers.settle(tracer, child)
      parts.push({ tracer, scope: child })
    })
    return parts.length === 0 ? undefined : new Scopes(this.#tracers, parts)
  }

  #each(visit: (part: Part) => unknown): void {
    for (const part of this.parts) this.#tracers.guard(part.tracer, () => visit(part))
  }

  #first<T>(read: (part: Part) => T | undefined): T | undefined {
    for (const part of this.parts) {
      const value = this.#tracers.guard(part.tracer, () => read(part))
      if (value !== undefined) return value
    }
    return undefined
  }
}

/** A starting call for one tracer. What costs something is read on demand. */
class CallToTrace implements TracedCall {
  readonly #call: Call
  readonly #tracer: CallTracer
  readonly input: unknown

  constructor(call: Call, input: unknown, tracer: CallTracer) {
    this.#call = call
    this.#tracer = tracer
    this.input = input
  }

  get operationId(): string {
    return this.#call.operationId
  }

  get type(): TracedCall["type"] {
    return this.#call.record.spec.type
  }

  get requestId(): string {
    return this.#call.requestId
  }

  get parentRequestId(): string | undefined {
    return this.#call.parentRequestId
  }

  get parent(): CallScope | undefined {
    return scopeFor(this.#call.caller, this.#tracer)
  }

  get via(): TracedCall["via"] {
    return this.#call.via
  }

  get entry(): TracedCall["entry"] {
    const { parent, options } = this.#call
    return parent === undefined ? (options as FromEntry | undefined)?.entry : undefined
  }

  get trace(): TraceContext | undefined {
    const { parent, options } = this.#call
    return parent === undefined ? sentBy(options) : undefined
  }

  get traceId(): string | undefined {
    for (const { scope, options } of callsAbove(this.#call)) {
      const id = scope?.fields?.()?.trace_id ?? traceIdOf(sentBy(options))
      if (id !== undefined) return id
    }
    return undefined
  }

  get identity(): TracedCall["identity"] {
    return this.#call.identity
  }
}

/** The tracing of a call for what leaves: that of the nearest call above which a tracer follows. */
export function tracingOf(call: Call): CallTracing {
  return {
    carrier: (to) => {
      for (const at of callsAbove(call)) {
        const trace = at.scope?.carrier?.(to) ?? sentBy(at.options)
        if (trace !== undefined) return trace
      }
      return undefined
    },
    child: (name, to, attributes) => nearestScope(call)?.child?.(name, to, attributes),
  }
}

/** A logger whose lines name the span of the nearest call that is traced. */
export function tracedLog(call: Call, log: Logger): Logger {
  const scope = nearestScope(call)
  if (scope === undefined) return log
  return withFields(log, scope.fields?.(), (level, message) => scope.log?.(level, message))
}

/** For each tracer the scope of the nearest call above that it follows. */
function nearestScope(call: Call): CallScope | undefined {
  let nearest: Scopes | undefined
  for (const { scope } of callsAbove(call)) {
    if (scope === undefined) continue
    nearest = nearest === undefined ? (scope as Scopes) : nearest.with(scope as Scopes)
    if (nearest.isComplete) break
  }
  return nearest
}

/** The call, its caller, and so on to the outermost one. */
function* callsAbove(call: Call | undefined): Iterable<Call> {
  for (let at = call; at !== undefined; at = at.caller) yield at
}

function traceIdOf(trace: TraceContext | undefined): string | undefined {
  return trace?.traceparent?.slice(3, 35)
}

function scopeFor(call: Call | undefined, tracer: CallTracer): CallScope | undefined {
  for (let at = call; at !== undefined; at = at.caller) {
    const { parts = [] } = (at.scope as Scopes | undefined) ?? {}
    const part = parts.find((one) => one.tracer === tracer)
    if (part !== undefined) return part.scope
  }
  return undefined
}

/** The trace context of a caller: that of its own call in another registry, or what it sent. */
function sentBy(options: CallOptions | undefined): TraceContext | undefined {
  const tracing = (options as CarriesTrace | undefined)?.tracing
  return tracing === undefined ? traceIn(options?.metadata) : tracing.carrier("remote")
}
