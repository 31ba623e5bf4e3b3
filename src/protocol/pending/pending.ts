import type {
  CallAbortedEvent,
  CallCompletedEvent,
  CallErrorEvent,
  CallProgressEvent,
  CallRequestedEvent,
  CallRespondedEvent,
} from "../../core/events.ts"
import { NotReady } from "../../core/not-ready.ts"
import { snapshot } from "../../core/plain-json.ts"
import { mintNumber, requestIdOf } from "../../engine/ids.ts"
import { isCallError, refusal, type CallError, type CallErrorOptions } from "../../core/errors.ts"
import { toWallTime, wallTimeOf } from "../../internal/clock.ts"
import type { DeadlineEntry } from "../../internal/deadlines.ts"
import { markForwarded, markInternal } from "../../core/error-marks.ts"
import { addSignalListener, removeSignalListener } from "../../internal/signals.ts"
import type { ProgressUpdate } from "../../core/types.ts"
import { CALLER_LEFT, type Endpoint } from "../endpoint.ts"
import type { Pending, Served } from "./table.ts"
import { requestEvent } from "./request-event.ts"
import type { PendingOptions } from "./options.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { notify } from "../../internal/notify.ts"

/** The common part of pending calls and streams: one start, and exactly one end. */
export abstract class PendingRequest implements DeadlineEntry, Pending {
  readonly number: number
  readonly requestId: string
  readonly operationId: string
  served: Served | undefined = undefined
  /** It has ended; later events are ignored. */
  isOver = false
  readonly endpoint: Endpoint
  readonly options: PendingOptions | undefined
  /** A time of the clock; computed on first use when only a timeout was set. */
  #deadline: number | undefined = undefined
  #timeout = 0
  #sent = 0

  // Links of the deadline list; `Deadlines` keeps them.
  listedIn: DeadlineEntry["listedIn"] = undefined
  dueBefore: DeadlineEntry | undefined = undefined
  dueAfter: DeadlineEntry | undefined = undefined

  constructor(
    endpoint: Endpoint,
    operationId: string,
    options: PendingOptions | undefined,
    number: number = mintNumber(),
  ) {
    this.endpoint = endpoint
    this.number = number
    this.requestId = requestIdOf(number)
    this.operationId = operationId
    this.options = options
  }

  abstract readonly kind: "call" | "stream"
  abstract responded(event: CallRespondedEvent): void
  abstract completed(event: CallCompletedEvent): void
  /** Rejects the caller's promise. */
  protected abstract settle(error: CallError): void

  /** Sends the request, or fails without having sent it. */
  begin(input: unknown, window?: number): void {
    const { endpoint, options } = this
    const deadline = options?.deadline
    if (endpoint.isClosed) {
      const what = "was not called: the call protocol is closed."
      return this.fail(this.error("UNAVAILABLE", what, NOT_SENT))
    }
    const signal = options?.signal
    if (signal?.aborted === true) {
      const terms = { ...NOT_SENT, cause: signal.reason as unknown }
      return this.fail(this.error("ABORTED", "was aborted before it began.", terms))
    }
    this.#resolveTimeout(deadline)
    if (this.#timeout <= 0) {
      const terms = { ...NOT_SENT, retryable: true }
      return this.fail(this.error("TIMEOUT", "was not called: its deadline had passed.", terms))
    }
    endpoint.pending.add(this)
    this.#sent = 1
    if (this.#timeout === Number.POSITIVE_INFINITY) this.#deadline = this.#timeout
    else if (this.#deadline === undefined) endpoint.deadlines.addUndated(this)
    else endpoint.deadlines.add(this)
    if (signal !== undefined) addSignalListener(signal, this)
    const sharedDeadline = endpoint.link.isLocal === true ? deadline : undefined
    // The peer gets no timeout if the caller set none.
    const isStated = (deadline ?? options?.timeout) !== undefined || Number.isFinite(this.#timeout)
    const timeout = sharedDeadline === undefined && isStated ? this.#timeout : undefined
    const event = requestEvent(this, input, sharedDeadline, timeout, options)
    endpoint.sending = this
    this.#send(window === undefined ? event : { ...event, window })
    endpoint.sending = undefined
  }

  /** Sends the request of a stream again, with the time that is left. */
  beginAgain(input: unknown, window: number, metadata: PendingOptions["metadata"]): void {
    this.#sent++
    const timeout = this.due() - this.endpoint.settings.clock.now()
    const event = requestEvent(this, input, undefined, timeout, { ...this.options, metadata })
    this.#send({ ...event, window })
  }

  /** Sends the request; if it contains files, as soon as they have been read. */
  #send(event: CallRequestedEvent): void {
    if (this.isOver) return
    try {
      this.endpoint.link.send(event)
    } catch (thrown) {
      const fail = (error: unknown): void => this.fail(this.sendFailure(error, event))
      if (!(thrown instanceof NotReady)) return fail(thrown)
      // What the caller changes meanwhile is not sent.
      const { input, metadata } = snapshot(event) as CallRequestedEvent
      const later = { ...event, input, metadata }
      thrown.load().then(() => this.#send(later), fail)
    }
  }

  due(now: number = this.endpoint.settings.clock.now()): number {
    return (this.#deadline ??= now + this.#timeout)
  }

  /** Moves the deadline. One that the caller set as a point in time stays. */
  postpone(milliseconds: number): void {
    if (this.options?.deadline !== undefined) return
    this.#deadline = this.due() + milliseconds
    const { listedIn } = this
    listedIn?.remove(this)
    listedIn?.add(this)
  }

  expire(): void {
    const { operationId, requestId } = this
    const message = `No response to "${operationId}" within ${this.#timeout} ms (request ${requestId}).`
    const details = { deadline: toWallTime(this.endpoint.settings.clock, this.due()) }
    const terms = { operationId, requestId, details, ...this.#deliveryStatus() }
    this.leave(refusal("TIMEOUT", message, terms), "The deadline passed.")
  }

  /**
   * Resolves the timeout.
   *
   * Without a deadline the clock is not read: that is a good part of the cost of a small call, and most calls end
   * before it matters.
   */
  #resolveTimeout(deadline: number | undefined): void {
    const { settings } = this.endpoint
    const isDefault = this.kind === "call" && deadline === undefined
    this.#timeout =
      this.options?.timeout ?? (isDefault ? settings.timeout : Number.POSITIVE_INFINITY)
    if (deadline === undefined) return
    this.#timeout = Math.min(this.#timeout, deadline - wallTimeOf(settings.clock))
    this.#deadline = settings.clock.now() + this.#timeout
  }

  /** The caller's signal fired. */
  handleEvent(): void {
    const cause: unknown = this.options?.signal?.reason
    const mayHaveExecuted = this.mayHaveExecuted()
    this.leave(this.error("ABORTED", "was aborted.", { cause, mayHaveExecuted }))
  }

  abort(reason?: string): void {
    const why = reason === undefined ? "was aborted." : `was aborted: ${reason}`
    const mayHaveExecuted = this.mayHaveExecuted()
    this.leave(this.error("ABORTED", why, { mayHaveExecuted }), reason)
  }

  /** What the link knows of this request, as options of an error; nothing if it was sent several times. */
  #deliveryStatus(): CallErrorOptions {
    return (this.#sent > 1 ? undefined : this.endpoint.link.deliveryStatus?.(this.requestId)) ?? {}
  }

  mayHaveExecuted(): boolean {
    return this.#sent > 0 && (this.#deliveryStatus().mayHaveExecuted ?? true)
  }

  /** Ends it here, and aborts it at the peer. */
  leave(error: CallError, reason?: string): void {
    if (this.isOver) return
    const { endpoint, requestId, served } = this
    this.end(error)
    if (served !== undefined) served.abort(reason ?? CALLER_LEFT)
    if (served !== undefined || this.#sent === 0) return
    const event = { type: "call.aborted", requestId } as const
    endpoint.trySend(reason === undefined ? event : { ...event, reason })
  }

  fail(error: CallError): void {
    if (!this.isOver) this.end(error)
  }

  protected end(error: CallError): void {
    this.finish()
    this.settle(error)
  }

  failed(event: CallErrorEvent): void {
    this.fail(errorOf(event, this.operationId))
  }

  abortedByPeer(event: CallAbortedEvent): void {
    const why = event.reason === undefined ? "" : `: ${event.reason}`
    this.fail(this.error("ABORTED", `was aborted by the other side${why}`))
  }

  progressed(event: CallProgressEvent): void {
    const { progress, total, message } = event
    const update: ProgressUpdate = {
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    }
    const { operationId, options, endpoint } = this
    const report = (): unknown => options?.progress?.(update)
    notify(endpoint.settings.logger, "A progress listener threw", report, { operationId })
  }

  /** Marks it as over, and removes it from the table, the deadlines and its signal. */
  finish(): void {
    this.isOver = true
    const { endpoint, options } = this
    if (this.#sent === 0) return
    endpoint.pending.remove(this)
    if (this.listedIn !== undefined) endpoint.deadlines.remove(this)
    if (options?.signal !== undefined) removeSignalListener(options.signal, this)
  }

  /** Turns what was thrown instead of sending it into a `CallError`. */
  sendFailure(thrown: unknown, event?: CallRequestedEvent): CallError {
    const isCoded = isCallError(thrown)
    if (isCoded && thrown.code !== "EXECUTION_ERROR") return thrown
    if (isCoded || (event !== undefined && !canBeSent(event))) {
      const details = isCoded ? thrown.details : undefined
      const what = `was not called: its input or metadata cannot be sent: ${reasonOf(thrown)}`
      return this.error("VALIDATION_ERROR", what, { details, cause: thrown })
    }
    return this.error("UNAVAILABLE", `could not be sent: ${reasonOf(thrown)}`, { cause: thrown })
  }

  error(code: string, what: string, options: CallErrorOptions = {}): CallError {
    const { operationId, requestId } = this
    return refusal(code, `"${operationId}" ${what}`, { operationId, requestId, ...options })
  }
}

/** Whether the parts of a request that callers make have a JSON form. */
function canBeSent({ input, metadata }: CallRequestedEvent): boolean {
  try {
    JSON.stringify([input, metadata])
    return true
  } catch {
    return false
  }
}

const NOT_SENT: CallErrorOptions = { mayHaveExecuted: false }

/** Creates the error that the peer sent. */
function errorOf(event: CallErrorEvent, operationId: string): CallError {
  const { code, message, details, retryable, mayHaveExecuted } = event
  const { retryAfterMs, attempts, requestId } = event
  const terms = { details, retryable, mayHaveExecuted, retryAfterMs, attempts }
  const error = refusal(code, message, { ...terms, requestId, operationId })
  return markForwarded(event.internal === true ? markInternal(error) : error)
}
