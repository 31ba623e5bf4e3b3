import type { Change, MiddlewareCall, Next } from "../core/middleware.ts"
import type { Clock } from "../internal/platform.ts"
import { addSignalListener, removeSignalListener } from "../internal/signals.ts"

/** The running shared work of one registry. */
export class SharedCalls {
  readonly #clock: Clock
  readonly #running = new Set<SharedCall<unknown>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Starts work that ends by itself, after a timeout, or with the registry. */
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
 * It has its own deadline and signal, and the identity and input of the first caller.
 */
export class SharedCall<TResult> {
  readonly #controller = new AbortController()
  readonly work: Promise<TResult>
  #members = 0

  constructor(
    call: MiddlewareCall,
    next: Next,
    { clock, timeout }: { readonly clock: Clock; readonly timeout: number },
    work: (call: MiddlewareCall, next: Next) => Promise<TResult>,
  ) {
    const { signal } = this.#controller
    const end = clock.now() + timeout
    const detached = detachedCall(call, signal, () => end - clock.now())
    this.work = work(detached, (change) => next(detachedChange(change, signal, detached)))
  }

  end(reason: unknown): void {
    this.#controller.abort(reason)
  }

  /** Waits for the work, unless this caller leaves. When the last caller leaves, the work may end. */
  join(
    call: MiddlewareCall,
    { endsWithLast }: { readonly endsWithLast: boolean },
  ): Promise<TResult> {
    this.#members++
    const { signal } = call
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        removeSignalListener(signal, listener)
        this.#members--
      }
      const listener = {
        handleEvent: () => {
          leave()
          // The call has ended with another error, so this one is not seen.
          reject(signal.reason as Error)
          if (endsWithLast && this.#members === 0) this.end(signal.reason)
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
}

function detachedCall(
  call: MiddlewareCall,
  signal: AbortSignal,
  remaining: () => number,
): MiddlewareCall {
  const { operationId, spec, isIdempotent, requestId, parentRequestId, identity, input } = call
  const { metadata, attempt, log, policy, idempotencyKey } = call
  return {
    ...{ operationId, spec, isIdempotent, requestId, parentRequestId, identity, input },
    ...{ metadata, attempt, log, policy, idempotencyKey, signal },
    deadline: undefined,
    get remainingMs() {
      return remaining()
    },
  }
}

function detachedChange(
  change: Change | undefined,
  signal: AbortSignal,
  { remainingMs }: MiddlewareCall,
): Change {
  const timeout = Math.min(change?.timeout ?? Infinity, remainingMs)
  return {
    ...change,
    detached: true,
    signal: change?.signal ?? signal,
    ...(Number.isFinite(timeout) && { timeout: Math.max(timeout, 1) }),
  }
}
