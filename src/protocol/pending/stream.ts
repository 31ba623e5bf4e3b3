// What pages load on use: streams, and messages about the options of calls.

import type { CallCompletedEvent, CallRespondedEvent } from "../../core/events.ts"
import { refusal, type CallError } from "../../core/errors.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { snapshot } from "../../core/plain-json.ts"
import { Resumption } from "../../core/resume.ts"
import { backOff, withJitter } from "../../internal/back-off.ts"
import type { Endpoint } from "../endpoint.ts"
import { requestError, type PendingOptions } from "./options.ts"
import { PendingRequest } from "./pending.ts"
import type { PendingSubscription } from "./requests.ts"
import { DeadlineTimer } from "../../internal/deadline-timer.ts"

export { requestError } from "./options.ts"

type Result = IteratorResult<ResponseEnvelope, undefined>

const DONE: Result = /* @__PURE__ */ Object.freeze({ done: true, value: undefined })

interface Waiter {
  readonly resolve: (result: Result) => void
  readonly reject: (error: CallError) => void
}

/** Opens a stream. `number` is that of its request, if it has one already. */
export function startStream(
  endpoint: Endpoint,
  operationId: string,
  input: unknown,
  options: PendingOptions | undefined,
  number?: number,
): PendingSubscription {
  const invalid =
    requestError(operationId, options) ??
    (options?.dryRun === true ? notDry(operationId) : undefined)
  const sound = invalid === undefined ? options : undefined
  const stream = new PendingStream(endpoint, operationId, input, sound, number)
  if (invalid !== undefined) stream.fail(invalid)
  return stream
}

/** A dry run is a call, also of a subscription. */
function notDry(operationId: string): CallError {
  const message = `A dry run is a call: use call("${operationId}", input, { dryRun: true }).`
  return refusal("INVALID_OPERATION_TYPE", message, { operationId, details: { operationId } })
}

/**
 * A stream from a peer. The request is sent when the first item is requested.
 *
 * Items are buffered until they are taken, as many as the window allows; when half of a window was taken, the peer
 * gets credit for as many again. Items always come before the end or the error that followed them.
 */
class PendingStream extends PendingRequest implements PendingSubscription {
  readonly kind = "stream"
  #input: unknown
  readonly #window: number
  #hasBegun = false
  #items: (ResponseEnvelope | undefined)[] = []
  #head = 0
  /** The number of the last item that arrived. */
  #seq = 0
  /** The number of the last item before the stream was resumed: the peer numbers those after it from 1. */
  #resumedAfter = 0
  readonly #resumption = new Resumption()
  /** Runs until the stream is resumed. */
  readonly #pause: DeadlineTimer
  /** The number of the last item that the peer may send. */
  #granted: number
  /** Items taken since the peer last got credit. */
  #taken = 0
  readonly #waiters: Waiter[] = []
  /** The error that ended the stream, until `next` reports it. */
  #error: CallError | undefined
  /** Runs while an item is awaited; every item restarts it. */
  readonly #idle: DeadlineTimer
  readonly #idleTimeout: number

  constructor(
    endpoint: Endpoint,
    operationId: string,
    input: unknown,
    options: PendingOptions | undefined,
    number: number | undefined,
  ) {
    super(endpoint, operationId, options, number)
    this.#input = input
    this.#window = options?.window ?? endpoint.settings.window
    this.#granted = this.#window
    this.#pause = new DeadlineTimer(endpoint.deadlines, () => this.#resume())
    this.#idleTimeout = options?.idleTimeout ?? Number.POSITIVE_INFINITY
    this.#idle = new DeadlineTimer(endpoint.deadlines, () => this.#idled())
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    if (!this.#hasBegun && !this.isOver) {
      this.#hasBegun = true
      // What the caller changes meanwhile is not sent when the stream is resumed.
      if (this.endpoint.link.resumeMs) this.#input = snapshot(this.#input)
      this.begin(this.#input, this.#window)
    }
    if (this.#head < this.#items.length)
      return Promise.resolve({ done: false, value: this.#take() })
    if (this.isOver) return this.#afterEnd()
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject })
      this.#startIdle()
    })
  }

  /** Leaves the stream, and stops the handler on the other side. */
  async return(): Promise<Result> {
    const leaving = this.error("ABORTED", "was left by its consumer.")
    // Calls of `next` that still wait see a regular end.
    const waiters = this.#waiters.splice(0)
    this.leave(leaving, "The consumer left.")
    this.#error = undefined
    this.#items = []
    this.#head = 0
    for (const { resolve } of waiters) resolve(DONE)
    return DONE
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  responded(event: CallRespondedEvent): void {
    const seq = event.seq === undefined ? this.#seq + 1 : this.#resumedAfter + event.seq
    // A duplicate: the first one counts.
    if (seq <= this.#seq) return
    if (seq !== this.#seq + 1) {
      return this.#lose(`item ${this.#seq + 1} is missing (item ${seq} came)`)
    }
    this.#seq = seq
    this.#resumption.received()
    this.#pause.stop()
    const waiter = this.#waiters.shift()
    if (waiter === undefined) {
      if (this.#items.length - this.#head >= this.#window) {
        const why = `sends more than the ${this.#window} items it was granted.`
        const error = this.error("SLOW_CONSUMER", why)
        return this.leave(error, "More items came than were granted.")
      }
      this.#items.push(event.output)
      return
    }
    if (this.#waiters.length === 0) this.#idle.stop()
    else this.#startIdle()
    waiter.resolve({ done: false, value: event.output })
    this.#grant()
  }

  completed(event: CallCompletedEvent): void {
    const seq = event.seq === undefined ? this.#seq : this.#resumedAfter + event.seq
    if (seq !== this.#seq) return this.#lose(`it ended after ${seq} items, and ${this.#seq} came`)
    const waiters = this.#waiters.splice(0)
    this.finish()
    for (const { resolve } of waiters) resolve(DONE)
  }

  override fail(error: CallError): void {
    if (this.isOver) return
    const ending = this.#endingOf(error)
    if (ending !== undefined) this.end(ending)
  }

  /** The error that ends the stream after a failure; `undefined` if it is resumed. */
  #endingOf(error: CallError): CallError | undefined {
    const { endpoint } = this
    const { resumeMs } = endpoint.link
    if (resumeMs === undefined || this.#seq === 0) return error
    const now = endpoint.settings.clock.now()
    const ending = this.#resumption.fail(error, now, Number.isNaN(this.#last) ? 0 : resumeMs)
    const delay = withJitter(backOff(this.#resumption.failures, 200, 5000))
    if (ending === undefined) this.#pause.start(now + Math.max(delay, error.retryAfterMs ?? 0))
    return ending
  }

  override finish(): void {
    super.finish()
    this.#idle.stop()
    this.#pause.stop()
  }

  protected settle(error: CallError): void {
    const [first, ...others] = this.#waiters.splice(0)
    // Nobody waits: a later `next` reports it, after the buffered items.
    if (first === undefined) this.#error = error
    else first.reject(error)
    for (const { resolve } of others) resolve(DONE)
  }

  /** The number of the last item for the handler; `NaN` if the caller let the stream begin after some other id. */
  get #last(): number {
    return Number(this.options?.metadata?.["lastEventId"] ?? 0) + this.#seq
  }

  /** Asks for the items after the last one. */
  #resume(): void {
    const asked = { lastEventId: String(this.#last), resume: "only" }
    const metadata = { ...this.options?.metadata, ...asked }
    this.#resumedAfter = this.#seq
    this.beginAgain(this.#input, this.#granted - this.#seq, metadata)
  }

  #take(): ResponseEnvelope {
    const item = this.#items[this.#head] as ResponseEnvelope
    this.#items[this.#head++] = undefined
    if (this.#head === this.#items.length || this.#head >= this.#window) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    this.#grant()
    return item
  }

  /** Counts an item as taken; at half of the window the peer gets credit for as many again. */
  #grant(): void {
    this.#taken++
    if (this.isOver || this.#taken * 2 < this.#window) return
    this.#granted += this.#taken
    this.#taken = 0
    const credit = this.#granted - this.#resumedAfter
    const { served, endpoint, requestId } = this
    if (served !== undefined) served.credit(credit)
    else endpoint.trySend({ type: "call.credit", requestId, credit })
  }

  #lose(what: string): void {
    this.leave(this.error("DATA_LOSS", `lost data: ${what}.`), "Items were lost.")
  }

  #startIdle(): void {
    if (this.#idleTimeout === Number.POSITIVE_INFINITY) return
    this.#idle.start(this.endpoint.settings.clock.now() + this.#idleTimeout)
  }

  #idled(): void {
    const details = { idleTimeout: this.#idleTimeout }
    const what = `sent nothing for ${this.#idleTimeout} ms.`
    this.leave(this.error("TIMEOUT", what, { details }), "No item arrived in time.")
  }

  #afterEnd(): Promise<Result> {
    const error = this.#error
    this.#error = undefined
    return error === undefined ? Promise.resolve(DONE) : Promise.reject(error)
  }
}
