import { isCallError } from "../core/errors.ts"
import { answererOf } from "../core/input-requests.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import type { Change, MiddlewareCall } from "../core/middleware.ts"
import type { HedgePolicy } from "../core/resilience.ts"
import { hasStreams } from "../internal/read-later.ts"
import type { Clock } from "../internal/platform.ts"
import type { RetryBudget } from "../internal/retry-budget.ts"
import { addSignalListener, removeSignalListener } from "../internal/signals.ts"
import type { Tally } from "./outcome.ts"

/** Number of durations that are kept, and the minimum that is needed. */
const REMEMBERED = 200
const NEEDED = 20

/** Starts another attempt when the first one takes long. The first success counts; the others are aborted. */
export class Hedge {
  readonly #after: number | "p95"
  readonly #max: number
  readonly #clock: Clock
  readonly #budget: RetryBudget
  readonly #durations: number[] = []
  #next = 0

  constructor({ after = "p95", max = 1 }: HedgePolicy, budget: RetryBudget, clock: Clock) {
    this.#after = after
    this.#max = max
    this.#budget = budget
    this.#clock = clock
  }

  run(
    call: MiddlewareCall,
    tally: Tally,
    attempt: (change: Change) => Promise<ResponseEnvelope>,
  ): Promise<ResponseEnvelope> {
    const after = this.#after === "p95" ? this.#p95() : this.#after
    return new Promise((resolve, reject) => {
      const running = new Set<AbortController>()
      let left = this.#max
      const requestInput = answererOf(call)
      let timer: unknown
      const end = (): void => {
        this.#clock.clearTimeout(timer)
        removeSignalListener(call.signal, leaving)
        for (const controller of running) controller.abort()
        running.clear()
      }
      const leaving = { handleEvent: end }
      const fail = (thrown: unknown): void => {
        // A repeatable failure may still become a success, if another attempt runs.
        if (running.size > 0 && isCallError(thrown) && thrown.retryable) {
          tally.mayHaveExecuted ||= thrown.mayHaveExecuted
          return
        }
        end()
        reject(thrown)
      }
      const start = (): void => {
        const controller = new AbortController()
        const startedAt = this.#clock.now()
        running.add(controller)
        tally.attempts++
        const ask: typeof requestInput =
          requestInput &&
          ((request) => {
            // The attempt that asks is the one that counts: people are asked once.
            left = 0
            for (const other of running) {
              if (other !== controller && running.delete(other)) other.abort()
            }
            return requestInput(request)
          })
        attempt({ signal: controller.signal, requestInput: ask }).then(
          (envelope) => {
            if (!running.delete(controller)) return
            this.#remember(this.#clock.now() - startedAt)
            end()
            resolve(envelope)
          },
          (thrown: unknown) => {
            if (running.delete(controller)) fail(thrown)
          },
        )
        if (left > 0 && after !== undefined) {
          timer = this.#clock.setTimeout(() => {
            if (left === 0 || running.size === 0 || hasStreams(call.input)) return
            if (!this.#budget.take(this.#clock.now())) return
            left--
            call.event?.("operations.hedge", { attempt: tally.attempts + 1 })
            start()
          }, after)
        }
      }
      addSignalListener(call.signal, leaving)
      start()
    })
  }

  #remember(duration: number): void {
    this.#durations[this.#next] = duration
    this.#next = (this.#next + 1) % REMEMBERED
  }

  #p95(): number | undefined {
    const { length } = this.#durations
    if (length < NEEDED) return undefined
    return this.#durations.toSorted((a, b) => a - b)[Math.ceil(length * 0.95) - 1]
  }
}
