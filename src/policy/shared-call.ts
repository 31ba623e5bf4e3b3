import { answererOf, inputUnavailable } from "../core/input-requests.ts"
import type { Change, MiddlewareCall, Next } from "../core/middleware.ts"
import type { InputRequest, InputResponse } from "../core/types.ts"
import { AskedTime } from "../internal/asked-time.ts"
import type { Clock } from "../internal/platform.ts"
import { addSignalListener, removeSignalListener } from "../internal/signals.ts"

/** The running shared work of one registry. */
export class SharedCalls {
  readonly #clock: Clock
  readonly #running = new Set<SharedCall<unknown>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Starts work that ends by itself, after a timeout, or with the registry. The caller joins it in the same turn. */
  start<TResult>(
    call: MiddlewareCall,
    next: Next,
    timeout: number,
    work: (call: MiddlewareCall, next: Next) => Promise<TResult>,
  ): SharedCall<TResult> {
    const shared = new SharedCall(call, next, { clock: this.#clock, timeout }, work)
    this.#running.add(shared)
    const end = (): void => void this.#running.delete(shared)
    shared.work.then(end, end)
    return shared
  }

  close(): void {
    for (const shared of this.#running) shared.end(new Error("The registry was closed."))
  }
}

/**
 * Work on behalf of a call that does not end with it: other calls may wait for the result, too.
 *
 * It has its own deadline and signal, and the identity and input of the first caller. Progress goes to all callers that
 * wait for it, a question to the first one that can answer.
 */
export class SharedCall<TResult> {
  readonly #controller = new AbortController()
  readonly #members = new Set<MiddlewareCall>()
  readonly work: Promise<TResult>
  #hasBegun = false
  /** Whether the work has asked a question: its result depends on the answer. */
  hasAsked = false

  constructor(
    call: MiddlewareCall,
    next: Next,
    limit: { readonly clock: Clock; readonly timeout: number },
    work: (call: MiddlewareCall, next: Next) => Promise<TResult>,
  ) {
    const detached = this.#detached(call, limit)
    this.work = work(detached, (change) => {
      this.#hasBegun = true
      this.#noteShared()
      return next(detachedChange(change, detached))
    })
  }

  end(reason: unknown): void {
    this.#controller.abort(reason)
  }

  /** Waits for the work, unless this caller leaves. When the last caller leaves, the work may end. */
  join(
    call: MiddlewareCall,
    { endsWithLast }: { readonly endsWithLast: boolean },
  ): Promise<TResult> {
    this.#members.add(call)
    // From the second caller on, the work goes on when the one leaves for which it was started.
    if (this.#hasBegun || !endsWithLast || this.#members.size > 1) this.#noteShared()
    const { signal } = call
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        removeSignalListener(signal, listener)
        this.#members.delete(call)
      }
      const listener = {
        handleEvent: () => {
          leave()
          // The call has ended with another error, so this one is not seen.
          reject(signal.reason as Error)
          if (endsWithLast && this.#members.size === 0) this.end(signal.reason)
        },
      }
      addSignalListener(signal, listener)
      this.work.then(
        (result) => {
          leave()
          resolve(result)
        },
        (thrown: unknown) => {
          leave()
          reject(thrown)
        },
      )
      if (signal.aborted) listener.handleEvent()
    })
  }

  #noteShared(): void {
    for (const member of this.#members) member.noteShared?.()
  }

  /** Asks the first caller that can answer; the next one if it leaves. */
  async #ask(request: InputRequest, operationId: string): Promise<InputResponse> {
    // The first caller joins after the work has started.
    await Promise.resolve()
    this.hasAsked = true
    const member = [...this.#members].find((one) => answererOf(one) !== undefined)
    if (member === undefined) throw inputUnavailable(operationId)
    try {
      return await member.requestInput(request)
    } catch (thrown) {
      if (this.#members.has(member)) throw thrown
      return await this.#ask(request, operationId)
    }
  }

  #detached(
    call: MiddlewareCall,
    { clock, timeout }: { readonly clock: Clock; readonly timeout: number },
  ): MiddlewareCall {
    const { operationId, spec, isIdempotent, requestId, parentRequestId, identity, input } = call
    const { metadata, attempt, log, policy, idempotencyKey } = call
    const { via, isNested, trusted, approval } = call
    const asked = new AskedTime()
    let end = clock.now() + timeout
    return {
      ...{ operationId, spec, isIdempotent, requestId, parentRequestId, identity, input },
      ...{ metadata, attempt, log, policy, idempotencyKey, signal: this.#controller.signal },
      ...{ via, isNested, trusted, approval },
      deadline: undefined,
      event: (name, attributes) => call.event?.(name, attributes),
      get remainingMs() {
        return end - clock.now()
      },
      progress: (value) =>
        queueMicrotask(() => {
          for (const member of this.#members) member.progress(value)
        }),
      requestInput: (request) => {
        end += asked.shift(1, clock.now())
        return this.#ask(request, operationId).finally(() => {
          end += asked.shift(-1, clock.now())
        })
      },
    }
  }
}

function detachedChange(change: Change | undefined, detached: MiddlewareCall): Change {
  const { remainingMs, signal, progress, requestInput } = detached
  const timeout = Math.min(change?.timeout ?? Infinity, remainingMs)
  return {
    ...{ progress, requestInput },
    ...change,
    detached: true,
    signal: change?.signal ?? signal,
    ...(Number.isFinite(timeout) && { timeout: Math.max(timeout, 1) }),
  }
}
