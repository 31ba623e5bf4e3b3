import { isCallError, refusal, type CallError } from "../core/errors.ts"
import type { EnvelopeStream } from "../core/infer.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import type { MiddlewareCall, StreamNext } from "../core/middleware.ts"
import { pause } from "../internal/wait.ts"
import type { Attempts } from "./attempts.ts"
import { isFailure, withAttempts, type Tally } from "./outcome.ts"

type Result = IteratorResult<ResponseEnvelope, undefined>

const DONE: Result = Object.freeze({ done: true, value: undefined })

/**
 * A stream with its policies: it may be reopened before the first item, and keeps its slot until it ends.
 *
 * An iterator, not a generator: a generator that waits for an item could not be left.
 */
export class PolicyStream implements AsyncIterableIterator<ResponseEnvelope, undefined> {
  readonly #attempts: Attempts
  readonly #call: MiddlewareCall
  readonly #next: StreamNext
  readonly #tally: Tally = { attempts: 0, mayHaveExecuted: false }
  #source: AsyncIterator<ResponseEnvelope, unknown> | undefined
  #controller: AbortController | undefined
  #ticket: number | undefined
  #isHurried = false
  #hasPlace = false
  #hasItem = false
  #isOver = false

  constructor(attempts: Attempts, call: MiddlewareCall, next: StreamNext) {
    this.#attempts = attempts
    this.#call = call
    this.#next = next
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<Result> {
    for (let round = 1; !this.#isOver; round++) {
      try {
        return await (this.#hasItem ? this.#pull() : this.#first())
      } catch (thrown) {
        const wait = this.#afterFailure(thrown, round)
        if (wait === undefined) {
          this.#isOver = true
          throw withAttempts(thrown, this.#tally, this.#call.isIdempotent)
        }
        const { clock } = this.#attempts.policies
        if (wait > 0) await pause(wait, { clock, signal: this.#call.signal })
      }
    }
    return DONE
  }

  /** The reader leaves, or the call has ended. */
  async return(): Promise<Result> {
    this.#isOver = true
    const returned = this.#source?.return?.()
    this.#release()
    this.#controller?.abort()
    await returned
    return DONE
  }

  async #first(): Promise<Result> {
    const { timeout, budget } = this.#attempts.policies
    this.#tally.attempts++
    const ticket = await this.#attempts.enter(this.#call)
    this.#ticket = ticket
    this.#hasPlace = true
    this.#isHurried = this.#attempts.isHurried(this.#call)
    if (this.#isOver) {
      this.#release()
      return DONE
    }
    const controller = timeout === undefined ? undefined : new AbortController()
    this.#controller = controller
    const change = controller && { signal: controller.signal }
    const stream: EnvelopeStream = this.#next(change)
    this.#source = stream[Symbol.asyncIterator]()
    const result = await (timeout === undefined ? this.#pull() : this.#pullWithin(timeout))
    if (this.#isOver && result.done !== true) return DONE
    budget.earn()
    this.#hasItem = true
    this.#leaveBreaker("success")
    return result
  }

  async #pull(): Promise<Result> {
    const result = await this.#source?.next()
    if (result === undefined || result.done === true) {
      this.#isOver = true
      this.#leaveBreaker("success")
      this.#release()
      return DONE
    }
    return result
  }

  /** The first item, unless it takes too long. */
  #pullWithin(timeout: number): Promise<Result> {
    const { clock } = this.#attempts.policies
    return new Promise((resolve, reject) => {
      const timer = clock.setTimeout(() => {
        const error = tooLate(this.#call, timeout)
        reject(error)
        this.#controller?.abort(error)
      }, timeout)
      this.#pull()
        .finally(() => clock.clearTimeout(timer))
        .then(resolve, reject)
    })
  }

  /** Milliseconds until it is opened again; `undefined` if it is not. */
  #afterFailure(thrown: unknown, round: number): number | undefined {
    const call = this.#call
    const isOpened = this.#hasItem
    const { breaker } = this.#attempts.policies
    if (this.#ticket !== undefined) {
      this.#attempts.failed(call, this.#ticket, thrown, this.#isHurried)
    } else if (isOpened && isFailure(thrown)) breaker?.fail((thrown as CallError).code)
    this.#ticket = undefined
    const source = this.#source
    source?.return?.().catch(() => undefined)
    this.#release()
    this.#source = undefined
    if (isOpened || this.#isOver) return undefined
    const wait = this.#attempts.waitBefore(call, thrown, round)
    if (isCallError(thrown)) this.#tally.mayHaveExecuted ||= thrown.mayHaveExecuted
    return wait
  }

  #leaveBreaker(outcome: "success" | "neutral"): void {
    if (this.#ticket === undefined) return
    this.#attempts.policies.breaker?.leave(this.#ticket, outcome)
    this.#ticket = undefined
  }

  /** Releases its ticket, and its slot when the handler has ended; once. */
  #release(): void {
    this.#leaveBreaker("neutral")
    if (!this.#hasPlace) return
    this.#hasPlace = false
    const source = this.#source as { readonly stopped?: Promise<unknown> } | undefined
    this.#attempts.policies.slots?.leave(source?.stopped)
  }
}

function tooLate({ operationId, isIdempotent }: MiddlewareCall, timeout: number): CallError {
  return refusal("TIMEOUT", `No first item of "${operationId}" within ${timeout} ms.`, {
    operationId,
    retryable: isIdempotent,
    details: { attemptTimeout: timeout },
  })
}
