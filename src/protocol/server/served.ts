// A served request in one file: its limits, answers and end share private state.

import { readCallPolicy } from "../../core/call-policy.ts"
import type { CallAnsweredEvent, CallRequestedEvent } from "../../core/events.ts"
import type { Failures } from "../../engine/failures.ts"
import { errorEvent } from "../../core/error-marks.ts"
import { unsentResult } from "../../core/error-changes.ts"
import { refusal } from "../../core/errors.ts"
import { NotReady } from "../../core/not-ready.ts"
import { outerOf, type OuterCall } from "../../core/outer-call.ts"
import { watchResume, type WatchedResume } from "../../core/resume.ts"
import { traceIn, type CallEntry, type FromEntry } from "../../core/tracing.ts"
import { encodeResult } from "../../core/unread-file.ts"
import { CallSink } from "../../engine/sink.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import { executeInto } from "../../engine/served-registry.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { CALL_WAYS } from "../../core/types.ts"
import type {
  CallOptions,
  CallPolicy,
  CallWay,
  Identity,
  ProgressUpdate,
} from "../../core/types.ts"
import type { CallAccount, WaitingCall } from "./account.ts"
import type { Endpoint } from "../endpoint.ts"
import type { Pending, Served } from "../pending/table.ts"
import { PendingCall } from "../pending/requests.ts"
import { Questions } from "./questions.ts"
import type { Serving } from "../serving.ts"
import { DeadlineTimer } from "../../internal/deadline-timer.ts"
import { fromWallTime } from "../../internal/clock.ts"

/** The server of a request, as the request sees it. */
export interface ServedHost {
  readonly endpoint: Endpoint
  readonly serving: Serving
  readonly failures: Failures
  /** Called when a request is over; its slot is free. */
  finished(request: ServedRequest): void
  /** Runs a queued request; `false` when the link is closing. */
  start(request: ServedRequest): boolean
}

/**
 * A request that is being served. It is also the options of the call for the registry: identity, deadline and
 * signal.
 */
export class ServedRequest extends CallSink implements CallOptions, FromEntry, Served, WaitingCall {
  readonly event: CallRequestedEvent
  readonly host: ServedHost
  identity: Identity | undefined = undefined
  /** Which of the server's limits it counts towards. */
  place: "none" | "queue" | "calls" | "streams" = "none"
  /** The account that it is charged to, where callers have several links. */
  account: CallAccount | undefined = undefined
  isOver = false
  /** The pending request, when this side itself made the call: then nothing has to be sent. */
  pending: Pending | undefined = undefined
  readonly whenOver: (() => void) | undefined
  /** The number of the last item that may be sent, and of the last item that was sent. */
  #credit: number
  #seq = 0
  #wake: (() => void) | undefined = undefined
  /** The deadline as a time of the clock; set once the request had to wait. */
  #due: number | undefined = undefined
  #questions: Questions | undefined = undefined
  #resumed: WatchedResume | undefined = undefined

  constructor(host: ServedHost, event: CallRequestedEvent, whenOver: (() => void) | undefined) {
    super()
    this.host = host
    this.event = event
    this.whenOver = whenOver
    this.#credit = event.window ?? Number.POSITIVE_INFINITY
  }

  get requestId(): string {
    return this.event.requestId
  }

  get parentRequestId(): string | undefined {
    return this.event.parentRequestId
  }

  get outer(): OuterCall | undefined {
    return outerOf(this.event)
  }

  get operationId(): string {
    return this.event.operationId
  }

  /** Wall time. A deadline by the peer's clock is used only when the peer sent no timeout. */
  get deadline(): number | undefined {
    return this.event.timeout === undefined ? this.event.deadline : undefined
  }

  get timeout(): number | undefined {
    const { timeout } = this.event
    if (timeout === undefined || this.#due === undefined) return timeout
    return this.#due - this.host.endpoint.settings.clock.now()
  }

  /** Starts its timeout, because it does not run immediately. */
  postpone(): void {
    const { timeout, deadline } = this.event
    if (this.#due !== undefined) return
    const { clock } = this.host.endpoint.settings
    if (timeout !== undefined) this.#due = clock.now() + timeout
    else if (deadline !== undefined) this.#due = fromWallTime(clock, deadline)
  }

  get metadata(): Readonly<Record<string, unknown>> | undefined {
    if (this.#resumed !== undefined) return this.#resumed.metadata
    const { metadata, trace, traceparent } = this.event
    if (trace === undefined && traceparent === undefined) return metadata
    return { traceparent, ...metadata, ...traceIn(trace as CallOptions["metadata"]) }
  }

  get entry(): CallEntry {
    const { client } = this.host.endpoint.link
    return {
      isPublic: this.via === "websocket",
      program: client === "console" ? client : undefined,
    }
  }

  get policy(): CallPolicy | undefined {
    return this.event.policy && readCallPolicy(this.event.policy)
  }

  get via(): CallWay {
    return CALL_WAYS.find((way) => way === this.host.endpoint.link.surface) ?? "call"
  }

  get dryRun(): boolean {
    return this.event.kind === "dry-run"
  }

  get idempotencyKey(): string | undefined {
    return this.event.idempotencyKey
  }

  get progress(): ((value: ProgressUpdate) => void) | undefined {
    return this.event.progress === true ? (value) => this.#report(value) : undefined
  }

  /** Asks the caller, if it answers questions. */
  get requestInput(): CallOptions["requestInput"] {
    const { link } = this.host.endpoint
    if (this.event.canAnswer !== true || link.carriesQuestions !== true) return undefined
    const questions = (this.#questions ??= new Questions(this.event, (event) => link.send(event)))
    return (request) => questions.ask(request)
  }

  answered(answer: CallAnsweredEvent): void {
    this.#questions?.answered(answer)
  }

  start(): boolean {
    return !this.isOver && this.host.start(this)
  }

  /** Runs a query or a mutation and answers with its result. */
  runCall(registry: AnyRegistry): void {
    executeInto(registry, this.operationId, this.event.input, this)
  }

  /** Runs a subscription: an item when the caller has granted one and the link has room for it. */
  async runStream(registry: AnyRegistry): Promise<void> {
    const { link } = this.host.endpoint
    this.postpone()
    const resumed = (this.#resumed = watchResume(this.metadata))
    const stream = registry.subscribe(this.operationId, this.event.input, this)
    try {
      for (;;) {
        if (this.#seq >= this.#credit) await this.#granted()
        const room = link.ready?.(this.requestId) ?? this.host.serving.turn()
        if (room !== undefined) await room
        if (this.isOver) return
        const { done, value } = await stream.next()
        if (this.isOver) return
        resumed.check(this.operationId)
        if (done === true) break
        const { requestId } = this
        const item = { type: "call.responded", requestId, output: value, seq: ++this.#seq } as const
        try {
          link.send(item)
        } catch (thrown) {
          if (!(thrown instanceof NotReady)) throw thrown
          await encodeResult(() => this.isOver || link.send(item))
          if (this.isOver) return
        }
      }
      link.send({ type: "call.completed", requestId: this.requestId, seq: this.#seq })
      this.#finish()
    } catch (thrown) {
      this.fail(thrown)
      this.cancel(thrown)
    }
  }

  credit(last: number): void {
    this.#credit = Math.max(this.#credit, last)
    this.#wake?.()
  }

  abort(reason: string): void {
    if (this.isOver) return
    this.#finish()
    this.cancel(reason)
  }

  /** Answers with an error, once. */
  fail(thrown: unknown): void {
    if (this.isOver) return
    this.#finish()
    const { endpoint, failures } = this.host
    endpoint.trySend(errorEvent(this.requestId, failures.answer(thrown, this)))
  }

  succeed(output: ResponseEnvelope): void {
    if (this.isOver) return
    if (this.pending instanceof PendingCall) {
      const { pending } = this
      this.#finish()
      return pending.arrive(output)
    }
    const { link } = this.host.endpoint
    const room = link.ready?.()
    if (room !== undefined) {
      void room.then(() => this.succeed(output))
      return
    }
    try {
      link.send({ type: "call.responded", requestId: this.requestId, output })
    } catch (thrown) {
      if (thrown instanceof NotReady) {
        thrown.load().then(
          () => this.succeed(output),
          (error: unknown) => this.fail(unsentResult(error)),
        )
      } else this.fail(unsentResult(thrown))
      return
    }
    this.#finish()
  }

  #finish(): void {
    this.isOver = true
    if (this.pending === undefined) this.host.serving.requests.delete(this.requestId)
    else this.pending.served = undefined
    this.host.finished(this)
    this.#wake?.()
    this.whenOver?.()
  }

  /**
   * Waits for credit, with a timeout of its own: the registry checks deadlines only while it is iterated, and on a link
   * that can lose events the caller may have left unnoticed, so that its idle timeout applies.
   */
  #granted(): Promise<void> {
    const { endpoint } = this.host
    const { idleTimeout } = this.event
    const idleDeadline =
      endpoint.link.mayRepeat === true && idleTimeout !== undefined
        ? endpoint.settings.clock.now() + idleTimeout
        : Number.POSITIVE_INFINITY
    const deadline = this.#due ?? Number.POSITIVE_INFINITY
    const timer = new DeadlineTimer(endpoint.deadlines, () =>
      this.#stalled(idleDeadline < deadline),
    )
    timer.start(Math.min(deadline, idleDeadline))
    return new Promise((resolve) => {
      this.#wake = () => {
        if (this.#seq >= this.#credit && !this.isOver) return
        this.#wake = undefined
        timer.stop()
        resolve()
      }
      this.#wake()
    })
  }

  #stalled(isSlow: boolean): void {
    const { operationId, requestId } = this
    const why = `The consumer of "${operationId}" read no items for too long.`
    const error = refusal(isSlow ? "SLOW_CONSUMER" : "TIMEOUT", why, { operationId, requestId })
    this.fail(error)
    this.cancel(error)
  }

  #report(value: ProgressUpdate): void {
    if (this.isOver) return
    const { progress, total, message } = value
    this.host.endpoint.trySend({
      type: "call.progress",
      requestId: this.requestId,
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    })
  }
}
