// A running call, from its options to the listeners of its end. Its fields are in one flat object.
import type { CallError } from "../core/errors.ts"
import type { AttemptLog } from "./attempt-log.ts"
import { capture, capturedReject, capturedResolve } from "../internal/captured.ts"
import { AskedTime } from "../internal/asked-time.ts"
import type { DeadlineEntry, Deadlines } from "../internal/deadlines.ts"
import { hasPartsReadLater } from "../internal/read-later.ts"
import type { EnvelopeStream } from "../core/infer.ts"
import type { Logger } from "../internal/logger.ts"
import type { Clock } from "../internal/platform.ts"
import { CancelToken, addSignalListener, removeSignalListener } from "../internal/signals.ts"
import { markAbandoned } from "../core/error-marks.ts"
import { afterAttempts, handlerError, stampError } from "../core/error-changes.ts"
import { mapError } from "../core/map-error.ts"
import type { AnsweredOverHTTP, ResponseHost } from "../core/http-response.ts"
import type { Revalidation } from "../core/middleware.ts"
import type { NestedInOuter, OuterCall } from "../core/outer-call.ts"
import type { CallApproval } from "../core/approvals.ts"
import type { CallOptions, CallWay, Identity } from "../core/types.ts"
import { mintRequestId } from "./ids.ts"
import type { EnvDirectory } from "./env-proxy.ts"
import type { OuterCalls } from "./outer-calls.ts"
import type { OperationRecord } from "./record.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import type { CallScope } from "../core/tracing.ts"
import { endedEarly, type EndReason } from "./refusals.ts"
import { CallSink } from "./sink.ts"

/** The part of the kernel that calls and streams use. */
export interface CallHost extends EnvDirectory {
  readonly clock: Clock
  readonly logger: Logger
  readonly deadlines: Deadlines
  readonly isClosed: boolean
  /** Milliseconds that a caller has for the answer to a question. */
  readonly inputTimeout: number
  /** Checks access and input; returns the input for the handler, or a promise of it. */
  admit(call: Call, input: unknown, trusted: boolean): unknown
  /** Throws if the caller may not make this call. */
  permit(call: Call, input: unknown, trusted: boolean): void
  begin(call: Call): void
  deadlineOf(call: Call, now?: number): number
  /** Whether a call without a deadline ends by itself. */
  isTimed(call: Call): boolean
  /** Tracks a call without a deadline, so that `close` can end it; returns a function that stops tracking. */
  track(call: Call): () => void
  readonly outerCalls: OuterCalls
  reportError(error: CallError, call: Call): void
  toEnvelope(call: Call, result: unknown): ResponseEnvelope
  call(
    id: string,
    input: unknown,
    options: CallOptions | undefined,
    parent: Call | undefined,
    trusted: boolean,
  ): Promise<ResponseEnvelope>
  stream(
    id: string,
    input: unknown,
    options: CallOptions | undefined,
    parent: Call | undefined,
    trusted: boolean,
  ): EnvelopeStream
}

/**
 * One running call or stream: its caller, its deadline, and the work that stops with it.
 *
 * Handlers never see it; they get the `CallContext` in front of it. This is the hottest object of the
 * library: one flat class whose fields are set in one place. What few calls need (ids, signals, children) is in
 * a separate object that is created on demand.
 */
export class Call implements DeadlineEntry {
  declare readonly kernel: CallHost
  declare readonly record: OperationRecord
  declare readonly parent: Call | undefined
  declare readonly options: CallOptions | undefined
  /** A time of the registry's clock, `Infinity` for none; `undefined` until `due` is called. */
  declare deadline: number | undefined
  /** The call has ended, successfully or not. */
  declare isOver: boolean
  /** Set when the call ended early; nothing new starts under it then. */
  declare ended: CallError | undefined
  /** Settle the promise of the caller, if there is one. */
  declare resolve: ((envelope: unknown) => void) | undefined
  declare reject: ((error: CallError) => void) | undefined

  // Links of the deadline list; `Deadlines` keeps them.
  declare listedIn: DeadlineEntry["listedIn"]
  declare dueBefore: DeadlineEntry | undefined
  declare dueAfter: DeadlineEntry | undefined

  declare private extras: Extras | undefined

  constructor(
    kernel: CallHost,
    record: OperationRecord,
    parent: Call | undefined,
    options: CallOptions | undefined,
  ) {
    this.kernel = kernel
    this.record = record
    this.parent = parent
    this.options = options
    this.deadline = undefined
    this.isOver = false
    this.ended = undefined
    this.resolve = undefined
    this.reject = undefined
    this.listedIn = undefined
    this.dueBefore = undefined
    this.dueAfter = undefined
    this.extras = undefined
  }

  /** The outermost call. */
  get root(): Call {
    let root: Call = this
    while (root.parent !== undefined) root = root.parent
    return root
  }

  /** The nesting level of the call; the outermost call of all registries has 1. */
  get depth(): number {
    return 1 + (this.parent === undefined ? (this.outer?.depth ?? 0) : this.parent.depth)
  }

  /** The call of another registry that this one is nested in, if it is the outermost one here. */
  get outer(): OuterCall | undefined {
    return this.parent === undefined
      ? (this.options as NestedInOuter | undefined)?.outer
      : undefined
  }

  /** The HTTP request of this call, for its response; only the call that the request made has one. */
  get answering(): ResponseHost | undefined {
    return this.parent === undefined
      ? (this.options as AnsweredOverHTTP | undefined)?.answering
      : undefined
  }

  /** This call for calls that it makes in other registries. An import that a handler calls is no level of its own. */
  get asOuter(): OuterCall {
    const { depth, caller, record } = this
    const { rootRequestId } = caller?.asOuter ?? this.outer ?? { rootRequestId: this.requestId }
    return { depth: caller !== undefined && record.isImported ? depth - 1 : depth, rootRequestId }
  }

  /** The call that made this one. */
  get caller(): Call | undefined {
    return this.parent
  }

  /** Whether it is an attempt of a call, which was admitted before. */
  get isAttempt(): boolean {
    return false
  }

  /** It is only checked and decided. */
  get isDry(): boolean {
    return this.options?.dryRun === true
  }

  get endsWithParent(): boolean {
    return this.isAttempt || this.record.isStream
  }

  /** The identity as passed by the caller, unchecked. Handlers get a frozen copy from `CallContext`. */
  get identity(): Identity | undefined {
    return this.parent === undefined ? this.options?.identity : this.root.options?.identity
  }

  get requestId(): string {
    // A nested call has its own id and never reuses another.
    return (this.ensureExtras().requestId ??=
      (this.parent === undefined ? this.options?.requestId : undefined) ?? mintRequestId())
  }

  get parentRequestId(): string | undefined {
    return this.parent === undefined ? this.options?.parentRequestId : this.parent.requestId
  }

  get operationId(): string {
    return this.record.id
  }

  /** Repeating the call has no further effect. */
  get isIdempotent(): boolean {
    const { record, options } = this
    if (record.isIdempotent) return true
    return options?.idempotencyKey !== undefined && record.policy.sendsKey === true
  }

  /** Counts from 1. */
  get attempt(): number {
    return 1
  }

  /** A result that the caller already has. */
  get revalidate(): Revalidation | undefined {
    return undefined
  }

  get signal(): AbortSignal {
    const more = this.ensureExtras()
    if (more.controller === undefined) {
      more.controller = new AbortController()
      if (this.ended !== undefined) more.controller.abort(this.ended)
    }
    return more.controller.signal
  }

  /** The same for a single internal listener, at a much lower cost. */
  get token(): CancelToken {
    const more = this.ensureExtras()
    if (more.token === undefined) {
      more.token = new CancelToken()
      if (this.ended !== undefined) more.token.cancel(this.ended)
    }
    return more.token
  }

  /** When the call ends. Reads the clock, unless `now` is given, the first time a default has to be set. */
  due(now?: number): number {
    return (this.deadline ??= this.kernel.deadlineOf(this, now))
  }

  /** The call has no timeout, and its deadline has not been computed yet. */
  get isPlain(): boolean {
    return this.deadline === undefined && this.options?.timeout === undefined
  }

  /** Limits the deadline to that of the parent, if that is known and earlier. */
  capDeadline(limit: Call): void {
    // Neither has a deadline yet, and this one has no longer a timeout: both get their deadlines at the same time.
    const isWithin = this.record.timeout <= limit.record.timeout
    if (this.isPlain && limit.isPlain && isWithin) return
    this.deadline = Math.min(this.due(), limit.due())
  }

  /** Counts one more call under the outermost one; returns the count. */
  countNested(): number {
    if (this.parent !== undefined) return this.parent.countNested()
    const { outer } = this
    if (outer === undefined) return ++this.ensureExtras().nestedCalls
    return this.kernel.outerCalls.count(outer, this.identity)
  }

  /** The attempts of a call that has middleware. */
  get attemptLog(): AttemptLog | undefined {
    return this.extras?.attemptLog
  }

  set attemptLog(log: AttemptLog | undefined) {
    this.ensureExtras().attemptLog = log
  }

  /** What tracers keep for the call. */
  get scope(): CallScope | undefined {
    return this.extras?.scope
  }

  set scope(scope: CallScope | undefined) {
    this.ensureExtras().scope = scope
  }

  /** How the outermost call came; programs that agents write call in their own way. */
  get via(): CallWay {
    if (this.options?.via === "code") return "code"
    return this.root.options?.via ?? "call"
  }

  /** What was decided about the call, and who approved it. */
  get approval(): CallApproval | undefined {
    return this.extras?.approval
  }

  set approval(approval: CallApproval | undefined) {
    this.ensureExtras().approval = approval
  }

  /** Counts a start of the handler, in this call or in an attempt of it. */
  noteStart(runner: Call = this): void {
    this.attemptLog?.begin(runner)
  }

  /** Identifies this call, with its attempts, to whatever follows it through middleware. */
  get key(): object {
    return this.cached("key", () => ({}))
  }

  /** Values that are created at most once per call, on demand: its env, its copy of the identity, its key. */
  cached<TValue>(key: "env" | "identity" | "key", make: () => TValue): TValue {
    const more = this.ensureExtras()
    return (more[key] ??= make()) as TValue
  }

  /** Stops the clock when a question is asked (1), until it has ended (-1). A `deadline` is a point in time, and stays. */
  stopClock(by: 1 | -1): void {
    if (this.options?.deadline !== undefined) return
    const now = this.kernel.clock.now()
    const asked = (this.ensureExtras().asked ??= new AskedTime())
    this.deadline = this.due(now) + asked.shift(by, now)
    const { listedIn } = this
    listedIn?.remove(this)
    listedIn?.add(this)
  }

  /** Waits for a handler's promise, for as long as the call lasts. */
  wait(promise: Promise<unknown>): Promise<never> {
    const outcome = this.expose()
    this.finishAfter(promise)
    return outcome
  }

  /** The promise of the caller. */
  expose(): Promise<never> {
    const outcome = new Promise(capture)
    this.resolve = capturedResolve
    this.reject = capturedReject
    return outcome as Promise<never>
  }

  /** The same for a caller that is already set: a sink, or a promise that exists. */
  finishAfter(promise: Promise<unknown>): void {
    this.watch()
    promise.then(
      (result) => this.finish(result),
      (thrown: unknown) => this.finishWith(thrown),
    )
  }

  /** Notifies a receiver if the call ends before its handler does. */
  onEnd(receiver: EndReceiver): void {
    const more = this.ensureExtras()
    more.onEnd ??= []
    more.onEnd.push(receiver)
  }

  /** Waits for work before the handler; the call may end meanwhile. */
  waitFor(promise: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.reject = reject
      this.watch()
      promise.then(
        (value) => {
          this.unwatch()
          resolve(value)
        },
        (thrown: unknown) => {
          this.unwatch()
          reject(this.fail(thrown))
        },
      )
    })
  }

  /** Registers everything that can end the call from outside: the deadline, the caller's signal, the parent. */
  watch(): void {
    this.isOver = false
    const { parent, options } = this
    this.watchDeadline()
    if (parent !== undefined) parent.adopt(this)
    if (options?.signal === undefined) return
    // A token belongs to this call alone and needs no removal.
    if (!(options.signal instanceof CancelToken))
      this.ensureExtras().listenedSignal = options.signal
    addSignalListener(options.signal, this)
    // It may have fired while the handler ran synchronously; the caller is never notified before this returns.
    if (options.signal.aborted) queueMicrotask(() => this.handleEvent())
  }

  protected watchDeadline(): void {
    const { kernel } = this
    if (this.deadline === undefined && kernel.isTimed(this)) {
      kernel.deadlines.addUndated(this)
    } else if (this.due() === Number.POSITIVE_INFINITY) {
      this.ensureExtras().untrack = kernel.track(this)
    } else {
      kernel.deadlines.add(this)
    }
  }

  unwatch(): void {
    this.isOver = true
    if (this.listedIn !== undefined) this.kernel.deadlines.remove(this)
    const { parent, extras } = this
    parent?.abandon(this)
    if (extras === undefined) return
    extras.untrack?.()
    extras.untrack = undefined
    if (extras.listenedSignal === undefined) return
    removeSignalListener(extras.listenedSignal, this)
    extras.listenedSignal = undefined
  }

  /** The caller's signal fired. */
  handleEvent(): void {
    this.end("ABORTED", abortedMessage(this.record.id), this.options?.signal?.reason)
  }

  /** The deadline passed. */
  expire(): void {
    this.end(
      "TIMEOUT",
      `No response to "${this.record.id}" before its deadline (request ${this.requestId}).`,
    )
  }

  /** Ends the call before its handler does, and everything that runs under it. */
  end(reason: EndReason, message: string, cause?: unknown): void {
    if (this.ended !== undefined || this.isOver) return
    this.ended = endedEarly(this, reason, message, this.hasBegun, cause)
    this.unwatch()
    this.refuseWith(this.ended)
    this.stopWork(reason, message)
  }

  /** Whether there may have been effects. */
  protected get hasBegun(): boolean {
    return this.attemptLog?.mayHaveExecuted ?? this.workHasBegun
  }

  /** The same for a started handler. A handler that only forwards the call may know that there were none. */
  get workHasBegun(): boolean {
    return this.extras?.token?.listener?.mayHaveExecuted?.() ?? true
  }

  /** The details of the error for a passed deadline. */
  get timeoutDetails(): object {
    return { deadline: this.deadline }
  }

  /** The error of a call that ends before its handler was called. */
  refuse(reason: EndReason, message: string, cause?: unknown): CallError {
    this.ended = endedEarly(this, reason, message, false, cause)
    return this.ended
  }

  /** The error for anything thrown, with the ids of the call. Call it once per failed call: it reports. */
  fail(thrown: unknown): CallError {
    const { attemptLog } = this
    let error = this.toError(thrown)
    if (attemptLog !== undefined) error = afterAttempts(error, attemptLog, this.isIdempotent)
    this.endWork(undefined)
    if (this.parent === undefined) this.kernel.reportError(error, this)
    return error
  }

  /** The same without a report. */
  toError(thrown: unknown): CallError {
    return stampError(mapError(thrown, this.record.spec.errorSchemas, this), this)
  }

  /** The same for what a handler threw. One that only forwards the call knows what happened elsewhere. */
  toHandlerError(thrown: unknown): CallError {
    const { spec, isImported } = this.record
    this.answering?.response?.dropResult()
    const error = mapError(thrown, spec.errorSchemas, this)
    return stampError(isImported ? error : handlerError(error, this), this)
  }

  /** Ends the call with an error before its handler starts. */
  refuseWithError(thrown: unknown): void {
    if (this.ended !== undefined) return
    this.unwatch()
    this.ended = this.fail(thrown)
    this.refuseWith(this.ended)
  }

  /** Aborts the handler and the nested calls of a call that has ended. */
  stopWork(reason: EndReason, message: string): void {
    const { extras, handling, ended } = this
    if (handling !== undefined && ended !== undefined) markAbandoned(ended, handling)
    if (extras === undefined) return
    const { children, controller, token, onEnd } = extras
    extras.children = undefined
    extras.onEnd = undefined
    if (children !== undefined) for (const child of children) child.end(reason, message)
    controller?.abort(this.ended)
    token?.cancel(this.ended)
    for (const receiver of onEnd ?? []) receiver.finishWith(this.ended as CallError)
  }

  /** Ends the call with a result, unless it has ended early. */
  finish(result: unknown): void {
    if (this.ended !== undefined) return
    let envelope: unknown
    try {
      envelope = this.complete(result)
    } catch (thrown) {
      this.finishWith(thrown)
      return
    }
    this.unwatch()
    this.endWork(envelope)
    if (this.resolve !== undefined) this.resolve(envelope)
    else if (this.options instanceof CallSink) this.options.succeed(envelope as ResponseEnvelope)
  }

  /** The envelope of a result. Middleware returns envelopes that are complete. */
  protected complete(result: unknown): unknown {
    return this.attemptLog === undefined ? this.kernel.toEnvelope(this, result) : result
  }

  finishWith(thrown: unknown): void {
    if (this.ended !== undefined) return
    this.unwatch()
    this.endWork(undefined)
    // Middleware and attempts get what the handler's error became.
    const isHandlers = this.attemptLog === undefined && !this.isAttempt
    this.refuseWith(this.fail(isHandlers ? this.toHandlerError(thrown) : thrown))
  }

  /** The handler that runs directly in this call or attempt, with middleware around it. */
  get handling(): Promise<unknown> | undefined {
    return this.extras?.handling
  }

  set handling(handling: Promise<unknown> | undefined) {
    this.ensureExtras().handling = handling
  }

  /**
   * Ends what the handler left open: attempts, questions, and streams, unless parts of its result are read later. Nested
   * calls may continue. Returns the outcome.
   */
  endWork<TOutcome>(outcome: TOutcome): TOutcome {
    this.isOver = true
    if (this.extras?.children === undefined && this.handling === undefined) return outcome
    const message = `The call of "${this.record.id}" has ended.`
    if (this.extras?.children?.size && !hasPartsReadLater(outcome)) this.endOpened(message, true)
    if (this.handling === undefined) return outcome
    this.ended = endedEarly(this, "ABORTED", message, true, undefined)
    this.stopWork("ABORTED", message)
    return outcome
  }

  /** Ends the streams and questions that the handler opened, and all attempts if the call itself has ended. */
  endOpened(message: string, isOver = false): void {
    for (const child of [...(this.extras?.children ?? [])]) {
      if (child.endsWithParent && (isOver || !child.isAttempt)) child.end("ABORTED", message)
    }
  }

  private refuseWith(error: CallError): void {
    if (this.reject !== undefined) this.reject(error)
    else if (this.options instanceof CallSink) this.options.fail(error)
  }

  adopt(child: Child): void {
    const more = this.ensureExtras()
    more.children ??= new Set()
    more.children.add(child)
  }

  abandon(child: Child): void {
    this.extras?.children?.delete(child)
  }

  private ensureExtras(): Extras {
    return (this.extras ??= {
      requestId: undefined,
      controller: undefined,
      token: undefined,
      children: undefined,
      listenedSignal: undefined,
      untrack: undefined,
      nestedCalls: 0,
      env: undefined,
      identity: undefined,
      key: undefined,
      attemptLog: undefined,
      approval: undefined,
      onEnd: undefined,
      handling: undefined,
      asked: undefined,
      scope: undefined,
    })
  }
}

/** What runs under a call. */
interface Child {
  /** It ends with the call. Nested calls may continue when it ends successfully. */
  readonly endsWithParent: boolean
  readonly isAttempt?: boolean
  end(reason: EndReason, message: string): void
}

/** Waits for a part of a call. */
export interface EndReceiver {
  finishWith(error: CallError): void
}

interface Extras {
  requestId: string | undefined
  controller: AbortController | undefined
  token: CancelToken | undefined
  children: Set<Child> | undefined
  listenedSignal: AbortSignal | undefined
  untrack: (() => void) | undefined
  nestedCalls: number
  env: unknown
  identity: unknown
  key: unknown
  attemptLog: AttemptLog | undefined
  approval: CallApproval | undefined
  onEnd: EndReceiver[] | undefined
  handling: Promise<unknown> | undefined
  asked: AskedTime | undefined
  scope: CallScope | undefined
}

/** The message for a caller that aborted its call. */
export function abortedMessage(operationId: string): string {
  return `The call of "${operationId}" was aborted.`
}
