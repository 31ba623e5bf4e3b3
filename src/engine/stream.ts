import { CallError } from "../errors.ts"
import type { EnvelopeStream } from "../infer.ts"
import type { ResponseEnvelope } from "../response-envelope.ts"
import type { CallOptions } from "../types.ts"
import { Invocation } from "./call.ts"
import { CallContext } from "./context.ts"
import { prepareInput } from "./input.ts"
import { asRefusal } from "./refusals.ts"
import type { Kernel } from "./kernel.ts"
import type { OperationRecord } from "./record.ts"

/** What a stream needs to begin. */
export interface StreamStart {
  readonly kernel: Kernel
  readonly record: OperationRecord
  readonly parent: Invocation | undefined
  readonly options: CallOptions | undefined
  readonly input: unknown
  readonly trusted: boolean
}

type Result = IteratorResult<ResponseEnvelope, undefined>

const DONE: Result = Object.freeze({ done: true, value: undefined })

/**
 * What `subscribe` returns. The look-up, the checks and the handler run at the first `next`.
 *
 * A mapped iterator, not another generator: an item costs one promise more than the handler's own.
 */
export class Stream implements EnvelopeStream {
  readonly #open: () => StreamStart
  #running: RunningStream | undefined
  #opening: Promise<void> | undefined
  #isOver = false

  constructor(open: () => StreamStart) {
    this.#open = open
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    if (this.#running !== undefined) return this.#running.take()
    if (this.#isOver) return Promise.resolve(DONE)
    // Asked again while an asynchronous input check is still going on: wait for it in turn.
    if (this.#opening !== undefined) return this.#opening.then(() => this.next())
    try {
      const waiting = this.#begin()
      if (waiting === undefined) return this.next()
      this.#opening = waiting.catch((error: unknown) => {
        this.#isOver = true
        throw error
      })
      return this.#opening.then(() => this.next())
    } catch (error) {
      this.#isOver = true
      return Promise.reject(asRefusal(error))
    }
  }

  async return(): Promise<Result> {
    this.#isOver = true
    await this.#running?.leave()
    return DONE
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  #begin(): Promise<void> | undefined {
    const { kernel, record, parent, options, input, trusted } = this.#open()
    const running = new RunningStream(kernel, record, parent, options)
    kernel.admit(running, input, trusted)
    const prepared = prepareInput(running, input)
    if (!(prepared instanceof Promise)) {
      running.start(prepared)
      this.#running = running
      return undefined
    }
    return prepared.then((ready) => {
      // Left while its input was being checked: the handler is not called for nobody.
      if (this.#isOver) return
      running.start(ready)
      this.#running = running
    })
  }
}

interface Waiting {
  readonly resolve: (result: Result) => void
  readonly reject: (error: CallError) => void
}

/** A subscription whose handler has been called. */
class RunningStream extends Invocation {
  #source: AsyncIterator<unknown> | undefined
  #isDone = false
  /** Those who asked for an item and have none yet; usually one. */
  readonly #waiting = new Set<Waiting>()

  start(input: unknown): void {
    this.kernel.begin(this)
    try {
      const handler = this.record.handler as NonNullable<OperationRecord["handler"]>
      this.#source = iteratorOf(handler(input, new CallContext(this)), this.record.id)
    } catch (thrown) {
      throw this.fail(thrown)
    }
    this.watch()
  }

  take(): Promise<Result> {
    if (this.#isDone) {
      return this.ended === undefined || this.#isReported
        ? Promise.resolve(DONE)
        : Promise.reject(this.#report(this.ended))
    }
    return new Promise((resolve, reject) => {
      const waiting = { resolve, reject }
      this.#waiting.add(waiting)
      this.#pull().then(
        (result) => this.#deliver(waiting, result),
        (thrown: unknown) => this.#break(waiting, thrown),
      )
    })
  }

  /** The consumer goes: the handler's `finally` runs, its signal fires, its children stop. */
  async leave(): Promise<void> {
    if (this.#isDone) return
    const idle = this.#waiting.size === 0
    this.#close()
    for (const { resolve } of this.#waiting) resolve(DONE)
    this.#waiting.clear()
    this.#isReported = true
    this.refuse("ABORTED", `The consumer of "${this.record.id}" left.`)
    this.stopWork("ABORTED", `The consumer of "${this.record.id}" left.`)
    const returned = this.#stopSource()
    // A generator that is busy returns only when it next yields, which may be never.
    if (idle) await returned
    else returned.catch(() => undefined)
  }

  #isReported = false

  protected override defaultDeadline(): number {
    return Number.POSITIVE_INFINITY
  }

  protected override settleEnded(error: CallError): void {
    if (this.#isDone) return
    this.#isDone = true
    // Nobody waits: the next one who asks hears of it.
    if (this.#waiting.size > 0) this.#isReported = true
    for (const { reject } of this.#waiting) reject(error)
    this.#waiting.clear()
    this.#stopSource().catch(() => undefined)
  }

  async #pull(): Promise<IteratorResult<unknown>> {
    return await (this.#source as AsyncIterator<unknown>).next()
  }

  #deliver(waiting: Waiting, result: IteratorResult<unknown>): void {
    if (!this.#waiting.delete(waiting)) return
    if (typeof result !== "object" || result === null) {
      this.#break(waiting, new TypeError("The handler's iterator gave something that is no result."))
      return
    }
    if (result.done === true) {
      this.#close()
      waiting.resolve(DONE)
      for (const { resolve } of this.#waiting) resolve(DONE)
      this.#waiting.clear()
      return
    }
    try {
      waiting.resolve({ done: false, value: this.kernel.process(this.record, result.value) })
    } catch (thrown) {
      this.#waiting.add(waiting)
      this.#break(waiting, thrown)
      this.#stopSource().catch(() => undefined)
    }
  }

  #break(waiting: Waiting, thrown: unknown): void {
    this.#waiting.delete(waiting)
    if (this.#isDone) return
    this.#close()
    waiting.reject(this.fail(thrown))
    for (const { resolve } of this.#waiting) resolve(DONE)
    this.#waiting.clear()
  }

  #close(): void {
    this.#isDone = true
    this.unwatch()
  }

  #report(error: CallError): CallError {
    this.#isReported = true
    return error
  }

  async #stopSource(): Promise<void> {
    const source = this.#source
    this.#source = undefined
    await source?.return?.()
  }
}

function iteratorOf(iterable: unknown, operationId: string): AsyncIterator<unknown> {
  const open = (iterable as Partial<AsyncIterable<unknown>> | undefined | null)?.[
    Symbol.asyncIterator
  ]
  if (typeof open !== "function") {
    throw new CallError(
      "EXECUTION_ERROR",
      `The handler of "${operationId}" must return an async iterable; write async function*.`,
      { operationId },
    )
  }
  return open.call(iterable)
}
