import type { MiddlewareCall } from "../core/middleware.ts"
import type { OperationPolicyState } from "../core/policy-state.ts"
import type { ConcurrencyPolicy } from "../core/resilience.ts"
import type { Clock } from "../internal/platform.ts"
import { addSignalListener, removeSignalListener } from "../internal/signals.ts"
import { refuse } from "./outcome.ts"

interface Waiter {
  readonly admit: () => void
}

/** Limits how many handlers run at the same time; further calls wait in turn. Every `enter` needs one `leave`. */
export class Slots {
  readonly #max: number
  readonly #maxQueue: number
  readonly #maxWaitMs: number
  readonly #clock: Clock
  readonly #waiting = new Set<Waiter>()
  #running = 0
  /** Running handlers whose calls have ended. */
  #abandoned = 0
  /** The average time between two slots that became free while calls waited. */
  #interval = 0
  #freedAt: number | undefined

  constructor({ max, maxQueue = 0, maxWaitMs = Infinity }: ConcurrencyPolicy, clock: Clock) {
    this.#max = max
    this.#maxQueue = maxQueue
    this.#maxWaitMs = maxWaitMs
    this.#clock = clock
  }

  get status(): NonNullable<OperationPolicyState["concurrency"]> {
    return { running: this.#running, waiting: this.#waiting.size, abandoned: this.#abandoned }
  }

  /** Takes a slot: immediately, or when the promise resolves. Throws `OVERLOADED` if there is none. */
  enter(call: MiddlewareCall): Promise<void> | undefined {
    if (this.#running < this.#max) {
      this.#running++
      return undefined
    }
    if (this.#waiting.size >= this.#maxQueue || this.#maxWaitMs <= 0) throw this.#overloaded(call)
    return this.#wait(call)
  }

  /** Frees a slot: immediately, or when the handler ends that its call has left behind. */
  leave(abandoned?: Promise<unknown>): void {
    if (abandoned !== undefined) {
      this.#abandoned++
      const end = (): void => {
        this.#abandoned--
        this.leave()
      }
      abandoned.then(end, end)
      return
    }
    const first = this.#waiting.values().next().value
    if (first === undefined) {
      this.#running--
      this.#freedAt = undefined
      return
    }
    const now = this.#clock.now()
    if (this.#freedAt !== undefined) {
      this.#interval += (now - this.#freedAt - this.#interval) / 8
    }
    this.#freedAt = now
    first.admit()
  }

  #wait(call: MiddlewareCall): Promise<void> {
    const { signal } = call
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(waiter)
        if (timer !== undefined) this.#clock.clearTimeout(timer)
        removeSignalListener(signal, listener)
      }
      const waiter: Waiter = {
        admit: () => {
          stop()
          resolve()
        },
      }
      const giveUp = (): void => {
        const error = this.#overloaded(call)
        stop()
        reject(error)
      }
      const listener = { handleEvent: giveUp }
      const timer = Number.isFinite(this.#maxWaitMs)
        ? this.#clock.setTimeout(giveUp, this.#maxWaitMs)
        : undefined
      this.#waiting.add(waiter)
      addSignalListener(signal, listener)
      if (signal.aborted) giveUp()
    })
  }

  #overloaded({ operationId }: MiddlewareCall): Error {
    const [running, waiting] = [this.#running, this.#waiting.size]
    const after = Math.ceil(this.#interval * (waiting + 1))
    return refuse(
      "OVERLOADED",
      `"${operationId}" was not called: ${running} calls of it run and ${waiting} wait, of at most ${this.#max} and ${this.#maxQueue}.`,
      {
        operationId,
        details: { running, waiting },
        ...(after > 0 && { retryAfterMs: after }),
      },
    )
  }
}
