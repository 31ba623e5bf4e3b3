import type { MiddlewareCall } from "../core/middleware.ts"
import type { RateLimitPolicy } from "../core/resilience.ts"
import type { CallError } from "../core/errors.ts"
import type { Clock } from "../internal/platform.ts"
import { pause } from "../internal/wait.ts"
import { refuse } from "./outcome.ts"
import { TokenBuckets } from "./token-buckets.ts"

/** Limits how many calls start per second: of all callers together, of each identity, or of each key. */
export class RateLimit {
  readonly #policy: RateLimitPolicy
  readonly #name: string
  readonly #clock: Clock
  readonly #burst: number
  readonly #buckets: TokenBuckets
  /** Calls that were refused. */
  refused = 0

  /** The name is part of the keys of a limiter that several processes share. */
  constructor(policy: RateLimitPolicy, name: string, clock: Clock) {
    this.#policy = policy
    this.#name = name
    this.#clock = clock
    this.#burst = Math.max(policy.burst ?? policy.perSecond, 1)
    this.#buckets = new TokenBuckets(policy.perSecond, this.#burst)
  }

  /**
   * Takes a token: immediately, or when the promise resolves. Throws `RATE_LIMITED` if there is none in time.
   */
  take(call: MiddlewareCall): Promise<void> | undefined {
    const { maxWaitMs = 0, limiter } = this.#policy
    const key = this.#keyOf(call)
    if (limiter !== undefined) return this.#takeShared(call, key)
    const now = this.#clock.now()
    const delay = this.#buckets.take(
      key,
      now,
      maxWaitMs === 0 ? 0 : Math.min(maxWaitMs, call.remainingMs),
    )
    if (delay === 0) return undefined
    if (delay < 0) throw this.#limited(call, -delay)
    return this.#waitForTurn(call, key, delay)
  }

  /** The called system asked for a pause. */
  hold(call: MiddlewareCall, milliseconds: number): void {
    if (milliseconds > 0) this.#buckets.hold(this.#keyOf(call), this.#clock.now() + milliseconds)
  }

  async #waitForTurn(call: MiddlewareCall, key: string, delay: number): Promise<void> {
    const { signal } = call
    const taken = this.#buckets.fullAt(key)
    await pause(delay, { clock: this.#clock, signal })
    if (!signal.aborted) return
    this.#buckets.giveBack(key, taken)
    throw this.#limited(call, delay)
  }

  async #takeShared(call: MiddlewareCall, key: string): Promise<void> {
    const { limiter, perSecond, maxWaitMs = 0 } = this.#policy
    const until = this.#clock.now() + Math.min(maxWaitMs, maxWaitMs === 0 ? 0 : call.remainingMs)
    const limit = { perSecond, burst: this.#burst }
    for (;;) {
      const held = this.#buckets.heldFor(key, this.#clock.now())
      const delay =
        held > 0
          ? held
          : ((await limiter?.take(`${this.#name}:${key}`, limit, { signal: call.signal })) ?? 0)
      if (delay <= 0) return
      if (this.#clock.now() + delay > until) throw this.#limited(call, delay)
      await pause(delay, { clock: this.#clock, signal: call.signal })
      if (call.signal.aborted) throw this.#limited(call, delay)
    }
  }

  #keyOf(call: MiddlewareCall): string {
    const { per = "registry" } = this.#policy
    if (per === "registry") return ""
    if (per !== "identity") return `key:${per(call)}`
    return call.identity === undefined ? "anonymous" : `identity:${call.identity.id}`
  }

  #limited({ operationId }: MiddlewareCall, delay: number): CallError {
    this.refused++
    const { perSecond, per = "registry" } = this.#policy
    const retryAfterMs = Math.ceil(delay)
    return refuse(
      "RATE_LIMITED",
      `"${operationId}" was not called: only ${perSecond} calls per second are allowed. Try again in ${retryAfterMs} ms.`,
      {
        operationId,
        retryAfterMs,
        details: { limit: perSecond, per: typeof per === "function" ? "key" : per },
      },
    )
  }
}
