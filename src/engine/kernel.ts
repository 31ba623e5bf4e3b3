// The invocation path. Everything that leads to a handler is in this file, and can be read from top to bottom.
import { allows, denial } from "../core/access.ts"
import type { EnvelopeStream } from "../core/infer.ts"
import type { Clock } from "../internal/platform.ts"
import { fromWallTime } from "../internal/clock.ts"
import { Deadlines } from "../internal/deadlines.ts"
import type { Logger } from "../internal/logger.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import { processResult } from "./result-pipeline.ts"
import type { NormalizeReport, OutputWarning, PipelineHost } from "./result-pipeline.ts"
import type { CallOptions } from "../core/types.ts"
import type { PolicyRule } from "../core/resilience.ts"
import type { Approvals } from "../approvals/approvals.ts"
import { abortedMessage, Call, type CallHost } from "./call.ts"
import { CallContext } from "./context.ts"
import { isReportable, notifyOfError, type ErrorListener } from "./failures.ts"
import { optionsIssue, rootOptions } from "./options.ts"
import { asRefusal, badOptions, closed, notFound, tooDeep, notDry, wrongKind } from "./refusals.ts"
import type { CallError } from "../core/errors.ts"
import type { CallTracer } from "../core/tracing.ts"
import { invoke, runHandler } from "./invoke.ts"
import { admitInput, isStillChecked, withResourceId } from "./input.ts"
import { CallSink } from "./sink.ts"
import type { RecordStore } from "./store.ts"
import { CallObserver, type CallListener, type CallRecorder, type ObservedCall } from "./observe.ts"
import { OuterCalls } from "./outer-calls.ts"
import { HANDLER, Stream, type StreamSource } from "./stream.ts"
import { MiddlewareStack } from "./middleware.ts"
import type { Chain } from "./chain.ts"

/** The limits and listeners of one registry. */
export interface KernelOptions extends PipelineHost {
  readonly onError: ErrorListener | undefined
  /** Default timeout of a call in milliseconds. */
  readonly timeout: number
  readonly inputTimeout: number
  readonly maxDepth: number
  readonly maxNestedCalls: number
  readonly policies: readonly PolicyRule[]
  readonly approvals: Approvals | undefined
}

/**
 * The one invocation path: look up, admit, check access and input, run, process the result.
 *
 * Private to its registry. It can call anything without checks, so neither handlers nor transports get it.
 */
export class Kernel implements PipelineHost, CallHost {
  readonly store: RecordStore
  readonly deadlines: Deadlines
  readonly clock: Clock
  readonly logger: Logger
  readonly inputTimeout: number
  readonly onWarning: ((warning: OutputWarning) => void) | undefined
  readonly onNormalize: ((report: NormalizeReport) => void) | undefined
  readonly middleware: MiddlewareStack
  /** Set while there are listeners of `onCall` or tracers. */
  observer: CallObserver | undefined
  readonly #options: KernelOptions
  /** Streams and calls without a deadline; weak, so that abandoned streams can be collected. */
  readonly #endless = new Set<WeakRef<Call>>()
  /** Reported errors: an error is reported once, even if several calls fail with it. */
  readonly #reported = new WeakSet<CallError>()
  readonly outerCalls: OuterCalls = new OuterCalls()
  isClosed = false

  constructor(store: RecordStore, options: KernelOptions) {
    this.store = store
    this.#options = options
    this.clock = options.clock
    this.logger = options.logger
    this.inputTimeout = options.inputTimeout
    this.onWarning = options.onWarning
    this.onNormalize = options.onNormalize
    this.deadlines = new Deadlines(options.clock)
    this.middleware = new MiddlewareStack(store, options)
  }

  /** Runs a query or mutation. Only the registry's `trusted` facade sets `trusted`. */
  call(
    id: string,
    input: unknown,
    options: CallOptions | undefined,
    parent: Call | undefined,
    trusted: boolean,
  ): Promise<ResponseEnvelope> {
    let call: Call | undefined
    try {
      call = this.#open(id, options, parent)
      if (this.observer !== undefined && !call.isDry) {
        return this.#observed(this.observer, call, input, trusted)
      }
      return this.#start(call, input, trusted)
    } catch (thrown) {
      const error = asRefusal(thrown, call, options)
      if (call === undefined) this.#refused(id, options, parent, error)
      return rejected(error)
    }
  }

  /** Runs a query or mutation, and notifies the sink of the outcome: once, and never before this returns. */
  callInto(id: string, input: unknown, sink: CallSink & CallOptions): void {
    if (this.observer !== undefined) {
      this.call(id, input, sink, undefined, false).then(
        (envelope) => sink.succeed(envelope),
        (error: unknown) => sink.fail(error),
      )
      return
    }
    let call: Call | undefined
    let chain: Chain | undefined
    let prepared: unknown
    try {
      call = this.#open(id, sink, undefined)
      prepared = this.admit(call, input, false)
      if (call.ended !== undefined) throw call.ended
      chain = this.#chainOf(call)
      this.begin(call)
    } catch (thrown) {
      const refused = asRefusal(thrown, call, sink)
      queueMicrotask(() => sink.fail(refused))
      return
    }
    const running = call
    if (isStillChecked(call, prepared)) {
      call.finishAfter(this.#whenChecked(call, prepared, chain, false))
      return
    }
    if (chain !== undefined) {
      chain.start(call, prepared, false)
      return
    }
    const result = invoke(call, prepared)
    if (result instanceof Promise) call.finishAfter(result)
    else if (result instanceof Error) queueMicrotask(() => sink.fail(running.fail(result)))
    else {
      call.endWork(result)
      queueMicrotask(() => sink.succeed(result))
    }
  }

  /** A call on behalf of a context, for `buildEnv`: nested if it is a handler's own context. */
  callFrom(
    context: CallOptions | undefined,
    id: string,
    input: unknown,
    options: CallOptions | undefined,
  ): Promise<ResponseEnvelope> {
    try {
      const parent = context === undefined ? undefined : this.#parentOf(context)
      if (parent !== undefined) return this.call(id, input, options, parent, false)
      const root = rootOptions(context, options)
      const running = this.call(id, input, root.options, undefined, false)
      return root.joined === undefined ? running : running.finally(() => root.joined?.release())
    } catch (thrown) {
      return rejected(asRefusal(thrown, undefined, options))
    }
  }

  /** Opens a subscription. Nothing runs before the first item is requested. */
  stream(
    id: string,
    input: unknown,
    options: CallOptions | undefined,
    parent: Call | undefined,
    trusted: boolean,
  ): EnvelopeStream {
    return new Stream(() => {
      const record = this.store.get(id)
      if (record === undefined || record.handler === undefined) {
        const missing = notFound(this.store, id, parent?.identity ?? options?.identity)
        throw this.#refused(id, options, parent, asRefusal(missing, undefined, options))
      }
      if (!record.isStream || options?.dryRun === true) {
        const error = asRefusal(
          record.isStream ? notDry(record) : wrongKind(record, "subscribe", "execute"),
          undefined,
          options,
        )
        throw this.#refused(id, options, parent, error)
      }
      const from = parent ?? (options === undefined ? undefined : this.#parentOf(options))
      const own = from !== undefined && parent === undefined ? undefined : options
      const call = new Call(this, record, from, own)
      const source = (): StreamSource => this.#chainOf(call)?.source(call, trusted) ?? HANDLER
      return { call, input, isAdmitted: false, trusted, observer: this.observer, source }
    })
  }

  /**
   * Everything between the look-up and the handler. Returns the input for the handler, or a promise of it.
   * Throws if the call is refused, or sets `call.ended` if its input is.
   */
  admit(call: Call, input: unknown, trusted: boolean): unknown {
    const read = withResourceId(call.record, input)
    this.permit(call, read, trusted)
    return admitInput(call, read)
  }

  /** Throws if this call is not allowed. */
  permit(call: Call, input: unknown, trusted: boolean): void {
    const { record, parent, options } = call
    if (options !== undefined && !(options instanceof CallSink && options.isValidated)) {
      const issue = optionsIssue(options)
      if (issue !== undefined) throw badOptions(record, issue)
    }
    if (this.isClosed) throw closed(record.id)
    if (!call.isAttempt && (parent ?? call.outer) !== undefined) this.#admitNested(call, parent)
    const { requirement } = record
    if (requirement === undefined || trusted) return
    if (call.caller?.record.composes?.(record.id) === true) return
    if (!allows(requirement, call.identity, input)) {
      throw denial(requirement, call.identity, record.id)
    }
  }

  /** Rejects a call whose deadline has passed or whose caller has left already. */
  begin(call: Call): void {
    const { options, parent } = call
    if (options?.deadline !== undefined) {
      // `-Infinity` means "long ago", not "not set".
      call.deadline = Math.max(fromWallTime(this.clock, options.deadline), -Number.MAX_VALUE)
      const { timeout } = options
      if (timeout !== undefined) {
        call.deadline = Math.min(call.deadline, this.clock.now() + timeout)
      }
    }
    if (parent !== undefined) call.capDeadline(parent)
    const signal = options?.signal
    if (signal?.aborted === true) {
      throw call.refuse("ABORTED", abortedMessage(call.record.id), signal.reason)
    }
    const { deadline = Number.POSITIVE_INFINITY } = call
    const isTimedOut =
      deadline === Number.POSITIVE_INFINITY
        ? (options?.timeout ?? 1) <= 0
        : deadline <= this.clock.now()
    if (isTimedOut) {
      throw call.refuse(
        "TIMEOUT",
        `The deadline of this call of "${call.record.id}" had passed before it started.`,
      )
    }
  }

  /** The default deadline of a call that starts now. */
  deadlineOf({ options, record }: Call, now?: number): number {
    const timeout = options?.timeout ?? record.timeout
    return timeout === Number.POSITIVE_INFINITY ? timeout : (now ?? this.clock.now()) + timeout
  }

  /** Whether a call without a deadline has a timeout. */
  isTimed({ options, record }: Call): boolean {
    return (options?.timeout ?? record.timeout) !== Number.POSITIVE_INFINITY
  }

  toEnvelope(call: Call, result: unknown): ResponseEnvelope {
    return processResult(call.record, result, this, call)
  }

  /** Tracks a call without a deadline, so that `close` can end it; returns a function that stops tracking. */
  track(call: Call): () => void {
    const reference = new WeakRef(call)
    this.#endless.add(reference)
    return () => this.#endless.delete(reference)
  }

  /** Adds a listener for calls; returns a function that removes it. */
  onCall(listener: CallListener): () => void {
    return this.#observe((observer) => observer.add(listener))
  }

  /** Adds a tracer; returns a function that removes it. */
  trace(tracer: CallTracer): () => void {
    return this.#observe((observer) => observer.tracers.add(tracer))
  }

  /** Records inputs and results of calls; returns a function that stops it. */
  record(recorder: CallRecorder): () => void {
    return this.#observe((observer) => {
      observer.recorders.add(recorder)
      return () => void observer.recorders.delete(recorder)
    })
  }

  /** Reports the error that an outermost call ended with. */
  reportError(error: CallError, call: Call): void {
    const { onError } = this.#options
    if (onError === undefined || this.#reported.has(error) || !isReportable(error)) return
    this.#reported.add(error)
    const { operationId, requestId, parentRequestId } = call
    const { identity } = new CallContext(call)
    const failed = { operationId, requestId, parentRequestId, identity, surface: "registry" }
    notifyOfError(onError, error, failed, this.logger)
  }

  /** Ends all running calls; later calls are rejected. */
  close(): void {
    this.isClosed = true
    for (const reference of this.#endless) {
      reference.deref()?.end("ABORTED", CLOSED)
    }
    this.#endless.clear()
    // The limit of a question ends with the call that asks.
    this.deadlines.close((entry) => entry instanceof Call && entry.end("ABORTED", CLOSED))
    this.middleware.close()
  }

  namespaces(): Iterable<string> {
    return this.store.namespaces()
  }

  hasNamespace(namespace: string): boolean {
    return this.store.hasNamespace(namespace)
  }

  names(namespace: string): Iterable<string> {
    return [...this.store.inNamespace(namespace)].flatMap((record) =>
      record.isStream ? [] : [record.spec.name],
    )
  }

  has(id: string): boolean {
    return this.store.get(id) !== undefined
  }

  #observe(begin: (observer: CallObserver) => () => void): () => void {
    const observer = this.observer ?? new CallObserver(this.clock, this.logger)
    const stop = begin(observer)
    if (!this.isClosed) this.observer = observer
    return () => {
      stop()
      if (observer.isIdle && this.observer === observer) this.observer = undefined
    }
  }

  /** Reports a call without an operation to tracers, and returns its error. */
  #refused(
    id: string,
    options: CallOptions | undefined,
    parent: Call | undefined,
    error: CallError,
  ): CallError {
    if (this.observer === undefined) return error
    const from = parent ?? (options === undefined ? undefined : this.#parentOf(options))
    this.observer.tracers.refused(id, options, from, error)
    return error
  }

  #start(call: Call, input: unknown, trusted: boolean): Promise<ResponseEnvelope> {
    const prepared = this.admit(call, input, trusted)
    if (call.ended !== undefined) return rejected(call.ended)
    const chain = this.#chainOf(call)
    if (isStillChecked(call, prepared)) return this.#runLater(call, prepared, chain, trusted)
    if (chain === undefined) return this.#run(call, prepared)
    this.begin(call)
    return chain.run(call, prepared, trusted)
  }

  /** The middleware of a call; most have none. That of a dry run does not lead to the handler. */
  #chainOf(call: Call): Chain | undefined {
    const { record } = call
    if (call.isDry) return this.middleware.dryRunOf(record)
    return record.chain === undefined ? undefined : this.middleware.chainOf(record)
  }

  #observed(
    observer: CallObserver,
    call: Call,
    input: unknown,
    trusted: boolean,
  ): Promise<ResponseEnvelope> {
    const observed: ObservedCall = observer.begin(call, input, trusted)
    try {
      return observed.follow(observed.run(() => this.#start(call, input, trusted)))
    } catch (thrown) {
      const refused = asRefusal(thrown, call)
      observed.fail(refused)
      throw refused
    }
  }

  #run(call: Call, input: unknown): Promise<ResponseEnvelope> {
    const { options, parent } = call
    // Otherwise nothing can have ended it yet, and its deadline matters only if the handler is asynchronous.
    if (options !== undefined || parent !== undefined) this.begin(call)
    const result = invoke(call, input)
    if (result instanceof Promise) return call.wait(result)
    return result instanceof Error
      ? rejected(call.fail(result))
      : Promise.resolve(call.endWork(result))
  }

  /** As `#run`, while the input is still being checked: the deadline counts from now. */
  #runLater(
    call: Call,
    prepared: Promise<unknown>,
    chain: Chain | undefined,
    trusted: boolean,
  ): Promise<ResponseEnvelope> {
    this.begin(call)
    return call.wait(this.#whenChecked(call, prepared, chain, trusted))
  }

  #whenChecked(
    call: Call,
    prepared: Promise<unknown>,
    chain: Chain | undefined,
    trusted: boolean,
  ): Promise<unknown> {
    const run = (input: unknown): unknown => {
      if (call.ended !== undefined) return undefined
      if (chain !== undefined) return chain.continue(call, input, trusted)
      return runHandler(call, input)
    }
    return prepared.then(run, (thrown: unknown) => call.refuseWithError(thrown))
  }

  /** Looks up a query or mutation, and creates the call. */
  #open(id: string, options: CallOptions | undefined, parent: Call | undefined): Call {
    const record = this.store.get(id)
    if (record === undefined || record.handler === undefined) {
      throw notFound(this.store, id, parent?.identity ?? options?.identity)
    }
    if (record.isStream && options?.dryRun !== true) {
      throw wrongKind(record, "execute", "subscribe")
    }
    const from = options === undefined || parent !== undefined ? parent : this.#parentOf(options)
    const own = from === parent ? options : undefined
    return new Call(this, record, from, own)
  }

  #admitNested(call: Call, parent: Call | undefined): void {
    const { record } = call
    if (parent?.ended !== undefined) {
      throw call.refuse(
        "ABORTED",
        `"${record.id}" was not called: its caller had ended.`,
        parent.ended,
      )
    }
    const { maxDepth, maxNestedCalls } = this.#options
    if (call.depth > maxDepth) {
      throw tooDeep(record.id, `calls are nested more than ${maxDepth} deep`)
    }
    if (call.countNested() > maxNestedCalls) {
      throw tooDeep(record.id, `one call led to more than ${maxNestedCalls} nested calls`)
    }
  }

  /** A handler that passes its own context on makes a nested call. */
  #parentOf(options: CallOptions): Call | undefined {
    if (typeof options !== "object" || options === null) return undefined
    const parent = CallContext.callOf(options)
    return parent?.kernel === this ? parent : undefined
  }
}

const CLOSED = "The registry was closed."

const SETTLED = Promise.resolve()

/**
 * A promise that rejects when its caller can listen. Before that, Node.js would treat it as unhandled, at a
 * high cost.
 */
function rejected(error: CallError): Promise<never> {
  return new Promise((_resolve, reject) => {
    void SETTLED.then(() => reject(error))
  })
}
