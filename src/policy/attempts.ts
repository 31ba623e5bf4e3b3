// The attempts of one call: retry, hedge, breaker, rate limit, concurrency and timeout, in this order from the outside.
import { abandonedBy } from "../core/error-marks.ts"
import { isCallError, type CallError } from "../core/errors.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import type { Change, MiddlewareCall, MiddlewareFunction, Next } from "../core/middleware.ts"
import type { RetryPolicy } from "../core/resilience.ts"
import { backOff } from "../internal/back-off.ts"
import { hasStreams } from "../internal/read-later.ts"
import type { Clock } from "../internal/platform.ts"
import type { RetryBudget } from "../internal/retry-budget.ts"
import { pause } from "../internal/wait.ts"
import { REFUSED, type Breaker } from "./breaker.ts"
import type { Hedge } from "./hedge.ts"
import { isFailure, refuse, statusOf, withAttempts, type Tally } from "./outcome.ts"
import type { RateLimit } from "./rate-limit.ts"
import type { Slots } from "./concurrency.ts"

/** The policies between a call and its attempts; those that are not set are `undefined`. */
export interface AttemptPolicies {
  readonly retry: RetryPolicy | undefined
  readonly hedge: Hedge | undefined
  readonly breaker: Breaker | undefined
  readonly rateLimit: RateLimit | undefined
  readonly slots: Slots | undefined
  /** Milliseconds of one attempt. */
  readonly timeout: number | undefined
  /** Milliseconds of a call whose caller sets no limit. */
  readonly limit: number
  readonly budget: RetryBudget
  readonly clock: Clock
  readonly random: () => number
}

const NO_TICKET = 0
/** A caller that allows as much time as the operation does has used some of it when the call arrives. */
const ALMOST = 0.9

/** Runs the attempts of calls of one operation. */
export class Attempts {
  readonly policies: AttemptPolicies
  readonly call: MiddlewareFunction
  /** The change that all attempts share. */
  readonly #change: Change | undefined

  constructor(policies: AttemptPolicies) {
    this.policies = policies
    const { timeout, retry, hedge } = policies
    this.#change = timeout === undefined ? undefined : Object.freeze({ timeout })
    if (hedge !== undefined) this.call = (call, next) => this.#hedged(call, next)
    else if (retry !== undefined) this.call = (call, next) => this.#retried(call, next)
    else this.call = (call, next) => this.#once(call, next, this.#change)
  }

  #retried(call: MiddlewareCall, next: Next): Promise<ResponseEnvelope> {
    return this.#once(call, next, this.#change).catch((thrown: unknown) =>
      this.#repeat(call, next, thrown, { attempts: 1, mayHaveExecuted: false }),
    )
  }

  #hedged(call: MiddlewareCall, next: Next): Promise<ResponseEnvelope> {
    const tally: Tally = { attempts: 0, mayHaveExecuted: false }
    return this.#attempt(call, next, tally).then(
      (envelope) => afterRepeats(envelope, tally),
      (thrown: unknown) => this.#repeat(call, next, thrown, tally),
    )
  }

  /** Further attempts after the first has failed. */
  async #repeat(
    call: MiddlewareCall,
    next: Next,
    failure: unknown,
    tally: Tally,
  ): Promise<ResponseEnvelope> {
    let thrown = failure
    for (let round = 1; ; round++) {
      const wait = this.waitBefore(call, thrown, round)
      if (wait === undefined) throw withAttempts(thrown, tally, call.isIdempotent)
      tally.mayHaveExecuted ||= (thrown as CallError).mayHaveExecuted
      if (wait > 0) await pause(wait, { clock: this.policies.clock, signal: call.signal })
      if (call.signal.aborted) throw withAttempts(thrown, tally, call.isIdempotent)
      try {
        return afterRepeats(await this.#attempt(call, next, tally), tally)
      } catch (again) {
        thrown = again
      }
    }
  }

  /** Milliseconds before the next attempt; `undefined` if there is none. */
  waitBefore(call: MiddlewareCall, thrown: unknown, attempt: number): number | undefined {
    const { retry, budget, clock, random } = this.policies
    if (retry === undefined || !isCallError(thrown) || !thrown.retryable) return undefined
    // An inner layer has already repeated it.
    if ((thrown.attempts ?? 1) > 1 || hasStreams(call.input)) return undefined
    const { attempts = 3, delay = 100, maxDelay = 5_000, maxRetryAfter = 30_000 } = retry
    if (attempt >= Math.min(attempts, attemptsOf(call))) return undefined
    const asked = thrown.retryAfterMs
    if (asked !== undefined && !(asked <= maxRetryAfter)) return undefined
    const wait = asked === undefined ? random() * backOff(attempt, delay, maxDelay) : asked
    if (wait >= call.remainingMs || call.signal.aborted) return undefined
    const isAllowed = budget.take(clock.now())
    const { code } = thrown
    call.event?.(isAllowed ? "operations.retry" : "operations.retry.denied", {
      attempt: attempt + 1,
      code,
      delay_ms: Math.round(wait),
    })
    return isAllowed ? Math.max(wait, 0) : undefined
  }

  /**
   * Goes through breaker, rate limit and concurrency; returns the breaker's ticket, or a promise of it. Throws when one
   * of them refuses.
   */
  enter(call: MiddlewareCall): number | Promise<number> {
    const { breaker } = this.policies
    const ticket = breaker === undefined ? NO_TICKET : breaker.enter()
    if (ticket === REFUSED) call.event?.("operations.breaker", { state: "open" })
    if (ticket === REFUSED) throw circuitOpen(call.operationId, breaker as Breaker)
    try {
      const waiting = this.#takePlace(call)
      return waiting === undefined ? ticket : this.#waitWith(call, ticket, waiting)
    } catch (thrown) {
      breaker?.leave(ticket, "neutral")
      throw thrown
    }
  }

  async #waitWith(call: MiddlewareCall, ticket: number, waiting: Promise<void>): Promise<number> {
    const { clock } = this.policies
    const began = clock.now()
    try {
      await waiting
      call.event?.("operations.queue", { wait_ms: clock.now() - began })
      return ticket
    } catch (thrown) {
      this.policies.breaker?.leave(ticket, "neutral")
      throw thrown
    }
  }

  /** One attempt, or several at the same time. */
  #attempt(call: MiddlewareCall, next: Next, tally: Tally): Promise<ResponseEnvelope> {
    const { hedge } = this.policies
    if (hedge !== undefined && call.policy?.hedge !== false) {
      const run = (change: Change): Promise<ResponseEnvelope> =>
        this.#once(call, next, { ...this.#change, ...change })
      return hedge.run(call, tally, run)
    }
    tally.attempts++
    return this.#once(call, next, this.#change)
  }

  #once(call: MiddlewareCall, next: Next, change: Change | undefined): Promise<ResponseEnvelope> {
    let entered: number | Promise<number>
    try {
      entered = this.enter(call)
    } catch (thrown) {
      return Promise.reject(thrown)
    }
    if (typeof entered === "number") return this.#run(call, next, change, entered)
    return entered.then((ticket) => this.#run(call, next, change, ticket))
  }

  #run(
    call: MiddlewareCall,
    next: Next,
    change: Change | undefined,
    ticket: number,
  ): Promise<ResponseEnvelope> {
    const { breaker, slots, budget } = this.policies
    const isHurried = this.isHurried(call)
    return next(change).then(
      (envelope) => {
        slots?.leave()
        budget.earn()
        breaker?.leave(ticket, "success")
        return envelope
      },
      (thrown: unknown) => {
        slots?.leave(abandonedBy(thrown))
        this.failed(call, ticket, thrown, isHurried)
        throw thrown
      },
    )
  }

  /** Whether the caller allows an attempt that starts now less time than policy and operation do. */
  isHurried(call: MiddlewareCall & { readonly isTimed?: boolean }): boolean {
    const { breaker, timeout = Infinity, limit } = this.policies
    if (breaker === undefined || call.isTimed === false) return false
    return call.remainingMs < Math.min(timeout, limit * ALMOST)
  }

  /** Notifies the breaker, and the rate limit if the called system asked for a pause. */
  failed(call: MiddlewareCall, ticket: number, thrown: unknown, isHurried: boolean): void {
    const { breaker, rateLimit } = this.policies
    if (!isCallError(thrown)) {
      breaker?.leave(ticket, "neutral")
      return
    }
    const isCounted = isFailure(thrown) && !(isHurried && thrown.code === "TIMEOUT")
    breaker?.leave(ticket, isCounted ? "failure" : "neutral", thrown.code)
    if (rateLimit === undefined) return
    if (statusOf(thrown) === 429) rateLimit.hold(call, thrown.retryAfterMs ?? 0)
  }

  /** Passes the rate limit and the concurrency limit: immediately, or when the promise resolves. */
  #takePlace(call: MiddlewareCall): Promise<void> | undefined {
    const { rateLimit, slots } = this.policies
    const turn = rateLimit?.take(call)
    if (turn !== undefined) return turn.then(() => slots?.enter(call))
    return slots?.enter(call)
  }
}

function afterRepeats(envelope: ResponseEnvelope, { attempts }: Tally): ResponseEnvelope {
  const { data, meta } = envelope
  // The error result of an MCP tool is recognized by its object.
  if (attempts === 1 || (meta.source === "mcp" && meta.isError)) return envelope
  return { data, meta: { ...meta, attempts } }
}

/** How many attempts the caller wants at most. */
function attemptsOf({ policy }: MiddlewareCall): number {
  const wish = policy?.retry
  return wish === false ? 1 : (wish?.attempts ?? Infinity)
}

function circuitOpen(operationId: string, breaker: Breaker): CallError {
  const retryAfterMs = Math.ceil(breaker.retryAfter())
  const { lastCode } = breaker
  const { name } = breaker.protects
  return refuse(
    "CIRCUIT_OPEN",
    `"${operationId}" was not called: too many of the last calls of ${name} failed${lastCode === undefined ? "" : `, the last one with ${lastCode}`}. It is tried again in ${retryAfterMs} ms.`,
    { operationId, retryAfterMs, details: { breaker: name, lastCode } },
  )
}
