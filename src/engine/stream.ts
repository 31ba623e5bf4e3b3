// A stream in one file: its start, its items and its end share private state.
import { CallError } from "../core/errors.ts"
import type { EnvelopeStream } from "../core/infer.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import type { Call } from "./call.ts"
import { runHandler } from "./invoke.ts"
import { isStillChecked } from "./input.ts"
import { asRefusal } from "./refusals.ts"
import type { CallObserver, ObservedCall } from "./observe.ts"

/** The source of a stream's items: its handler, or middleware around it. */
export interface StreamSource {
  /** Its items are envelopes, and stopping it also stops its own source. */
  readonly isMiddleware: boolean
  /** Called once. */
  open(call: Call, input: unknown): AsyncIterator<unknown>
  /** The envelope of an item. */
  toEnvelope(call: Call, value: unknown): ResponseEnvelope
  /** The stream has ended, perhaps with an error. */
  end?(error: CallError | undefined): void
}

/** The handler of the call's operation. */
export const HANDLER: StreamSource = {
  isMiddleware: false,
  open: (call, input) => {
    return iteratorOf(runHandler(call, input), () => {
      const operationId = call.record.id
      const message = `The handler of "${operationId}" must return an async iterable; write async function*.`
      return new CallError("EXECUTION_ERROR", message, { operationId })
    })
  },
  toEnvelope: (call, value) => call.kernel.toEnvelope(call, value),
}

/** A stream that starts now. */
export interface StreamStart {
  readonly call: Call
  readonly input: unknown
  /** Access and input have been checked. */
  readonly isAdmitted: boolean
  readonly trusted: boolean
  readonly observer: CallObserver | undefined
  /** Read when the call is admitted. */
  readonly source: () => StreamSource
}

type Result = IteratorResult<ResponseEnvelope, undefined>

const DONE: Result = Object.freeze({ done: true, value: undefined })

/**
 * The result of `subscribe`. The look-up, the checks and the handler run at the first `next`.
 *
 * A mapped iterator, not another generator: an item costs one promise more than the handler's own.
 */
export class Stream implements EnvelopeStream {
  readonly #open: () => StreamStart
  #running: RunningStream | undefined
  #opening: Promise<void> | undefined
  /** The call while its input is still being checked. */
  #openingCall: Call | undefined
  #observed: ObservedCall | undefined
  /** Set from the look-up on. */
  #call: Call | undefined
  #isOver = false

  constructor(open: () => StreamStart) {
    this.#open = open
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    if (this.#running !== undefined) {
      const next = this.#running.next()
      return this.#observed === undefined ? next : this.#observed.next(next)
    }
    if (this.#isOver) return Promise.resolve(DONE)
    // Called again during an asynchronous input check: wait for it in turn.
    if (this.#opening !== undefined) return this.#opening.then(() => this.next())
    try {
      const waiting = this.#begin()
      if (waiting === undefined) return this.next()
      this.#opening = waiting.catch((error: unknown) => {
        // A consumer that left during the input check gets no error.
        if (this.#isOver) return
        this.#isOver = true
        this.#observed?.fail(error)
        throw error
      })
      return this.#opening.then(() => this.next())
    } catch (error) {
      this.#isOver = true
      const refused = asRefusal(error, this.#call)
      this.#observed?.fail(refused)
      return Promise.reject(refused)
    }
  }

  async return(): Promise<Result> {
    this.#isOver = true
    this.#observed?.leave()
    this.#openingCall?.end("ABORTED", leftMessage(this.#openingCall))
    await this.#running?.leave()
    return DONE
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  /** For `PolicyStream`: settles when a handler that was stopped has ended. */
  get stopped(): Promise<void> | undefined {
    return this.#running?.stopped
  }

  #begin(): Promise<void> | undefined {
    const started = this.#open()
    const { call, input, trusted, observer } = started
    this.#call = call
    const observed = (this.#observed = observer?.begin(call, input, trusted))
    const start = (): Promise<void> | undefined => this.#start(started)
    return observed === undefined ? start() : observed.run(start)
  }

  #start({ call, input, isAdmitted, trusted, source }: StreamStart): Promise<void> | undefined {
    const prepared = isAdmitted ? input : call.kernel.admit(call, input, trusted)
    if (call.ended !== undefined) throw call.ended
    if (isAdmitted || !isStillChecked(call, prepared)) {
      this.#running = new RunningStream(call, prepared, source(), this.#observed)
      return undefined
    }
    // The stream has started: its deadline or signal also ends the wait for the input check.
    call.kernel.begin(call)
    this.#openingCall = call
    return call.waitFor(prepared).then((ready) => {
      this.#openingCall = undefined
      this.#running = new RunningStream(call, ready, source(), this.#observed)
    })
  }
}

/** A subscription whose handler, or middleware, has been called. */
class RunningStream {
  readonly #call: Call
  readonly #from: StreamSource
  readonly #observed: ObservedCall | undefined
  #source: AsyncIterator<unknown> | undefined
  stopped: Promise<void> | undefined
  #isDone = false
  /** The error of a stream that was ended from outside while no `next` was pending. */
  #undeliveredError: CallError | undefined
  /** The pending `next`, and the functions that settle it. */
  #pending: Promise<Result> | undefined
  #resolve: ((result: Result) => void) | undefined
  #reject: ((error: CallError) => void) | undefined

  constructor(call: Call, input: unknown, from: StreamSource, observed: ObservedCall | undefined) {
    this.#call = call
    this.#from = from
    this.#observed = observed
    call.kernel.begin(call)
    // Waiting for the input check may have ended.
    call.isOver = false
    try {
      this.#source = from.open(call, input)
    } catch (thrown) {
      throw this.#fail(thrown)
    }
    call.reject = (error) => this.#endFromOutside(error)
    call.watch()
  }

  next(): Promise<Result> {
    if (this.#isDone) return this.#afterEnd()
    // Called before the last one is done: wait in turn.
    if (this.#pending !== undefined) return this.#pending.then(this.#again, this.#again)
    const outcome = new Promise<Result>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#pending = outcome
    try {
      const source = this.#source as AsyncIterator<unknown>
      const observed = this.#observed
      const pulled = observed === undefined ? source.next() : observed.run(() => source.next())
      const item = pulled instanceof Promise ? pulled : Promise.resolve(pulled)
      item.then(this.#deliver, this.#failPending)
    } catch (thrown) {
      this.#failPending(thrown)
    }
    return outcome
  }

  /** The consumer leaves: the handler's `finally` runs, its signal fires, its nested calls stop. */
  async leave(): Promise<void> {
    if (this.#isDone) return
    const message = leftMessage(this.#call)
    const isIdle = this.#pending === undefined
    this.#close()
    // Middleware stops its own source, so the end of the handler is awaited.
    const leaving = this.#from.isMiddleware ? this.#stopSource() : undefined
    this.#call.refuse("ABORTED", message)
    this.#call.stopWork("ABORTED", message)
    const returned = leaving ?? this.#stopSource()
    // A generator that is busy returns only when it next yields, which may be never.
    if (isIdle) await returned.catch((thrown: unknown) => Promise.reject(this.#fail(thrown)))
    else returned.catch(() => undefined)
  }

  readonly #again = (): Promise<Result> => this.next()

  // Created once per stream, not per item. Late results find no pending `next` and are dropped.
  readonly #deliver = (result: IteratorResult<unknown>): void => {
    if (this.#pending === undefined) return
    try {
      if (typeof result !== "object" || result === null) {
        throw new TypeError(
          "The handler's iterator returned a value that is not an iterator result.",
        )
      }
      if (result.done === true) {
        this.#close()
        this.#call.endWork(undefined)
        return
      }
      const value = this.#from.toEnvelope(this.#call, result.value)
      const resolve = this.#resolve
      this.#pending = undefined
      resolve?.({ done: false, value })
    } catch (thrown) {
      this.#failPending(thrown)
      this.#stopSource().catch(() => undefined)
    }
  }

  readonly #failPending = (thrown: unknown): void => {
    if (this.#pending === undefined) return
    this.#pending = undefined
    this.#reject?.(this.#fail(thrown))
    this.#close()
  }

  #fail(thrown: unknown): CallError {
    const call = this.#call
    const error = call.fail(this.#from.isMiddleware ? thrown : call.toHandlerError(thrown))
    this.#from.end?.(error)
    return error
  }

  /** Ends the stream because of a deadline, a signal, a parent or `close`. */
  #endFromOutside(error: CallError): void {
    this.#observed?.fail(error)
    this.#from.end?.(error)
    const { parent } = this.#call
    // The handler that opened it has ended and would not handle an error, so a pending read sees the end.
    if (parent?.isOver !== true || parent.ended !== undefined) {
      // Without a pending `next`, the following one gets the error.
      if (this.#pending === undefined) this.#undeliveredError = error
      else this.#reject?.(error)
      this.#pending = undefined
    }
    this.#close()
    this.#stopSource().catch(() => undefined)
  }

  #afterEnd(): Promise<Result> {
    const error = this.#undeliveredError
    this.#undeliveredError = undefined
    return error === undefined ? Promise.resolve(DONE) : Promise.reject(error)
  }

  /** Ends the stream, and a pending `next` with it. */
  #close(): void {
    this.#isDone = true
    this.#from.end?.(undefined)
    this.#call.unwatch()
    if (this.#pending !== undefined) this.#resolve?.(DONE)
    this.#pending = undefined
  }

  #stopSource(): Promise<void> {
    const source = this.#source
    this.#source = undefined
    const stop = async (): Promise<void> => void (await source?.return?.())
    return (this.stopped ??= this.#observed === undefined ? stop() : this.#observed.run(stop))
  }
}

function leftMessage(call: Call): string {
  return `The consumer of "${call.record.id}" left.`
}

/** The iterator of what a handler or middleware returned. */
export function iteratorOf(iterable: unknown, problem: () => CallError): AsyncIterator<unknown> {
  const open = (iterable as Partial<AsyncIterable<unknown>> | undefined | null)?.[
    Symbol.asyncIterator
  ]
  if (typeof open !== "function") throw problem()
  return open.call(iterable)
}
