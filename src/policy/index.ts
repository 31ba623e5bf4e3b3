// The policies of a registry: what each operation does when something fails, is slow or is asked too often.
import type { Middleware, MiddlewareFunction } from "../core/middleware.ts"
import type { AppliedPolicy, PolicyState } from "../core/policy-state.ts"
import type { Policies, PolicyHost, PolicyTarget } from "../core/resilience.ts"
import { compilePattern } from "../internal/pattern.ts"
import type { Matcher } from "../internal/pattern.ts"
import { RetryBudget } from "../internal/retry-budget.ts"
import { Attempts } from "./attempts.ts"
import { Breaker } from "./breaker.ts"
import { Cache } from "./cache.ts"
import { CachePool } from "./cache-store.ts"
import { withFallback } from "./fallback.ts"
import { Hedge } from "./hedge.ts"
import { Idempotency } from "./idempotency.ts"
import { RateLimit } from "./rate-limit.ts"
import { describeResilience, resolveResilience } from "./resolve.ts"
import type { ResolvedResilience } from "./resolve.ts"
import { SharedCalls } from "./shared-call.ts"
import { Slots } from "./slots.ts"
import { PolicyStream } from "./stream.ts"

/** Retries that a source has in advance; every success earns a tenth of one more. */
const MAX_RETRIES = 100

/** Creates the policies of one registry. `random` is for tests. */
export function createPolicies(
  host: PolicyHost,
  random: () => number = Math.random,
): RegistryPolicies {
  return new RegistryPolicies(host, random)
}

/** What is made for one operation. */
interface Made {
  readonly target: PolicyTarget
  readonly middleware: Middleware | undefined
  readonly cache: Cache | undefined
  readonly slots: Slots | undefined
  readonly rateLimit: RateLimit | undefined
}

/** The policies of one registry, with everything that calls have in common. */
export class RegistryPolicies implements Policies {
  readonly #host: PolicyHost
  readonly #random: () => number
  readonly #made = new Map<string, Made>()
  readonly #budgets = new Map<string, RetryBudget>()
  readonly #breakers = new Map<string, Breaker>()
  readonly #rateLimits = new Map<string, RateLimit>()
  readonly #pool = new CachePool()
  readonly #shared: SharedCalls

  constructor(host: PolicyHost, random: () => number) {
    this.#host = host
    this.#random = random
    this.#shared = new SharedCalls(host.clock)
  }

  for(target: PolicyTarget): Middleware | undefined {
    const made = this.#made.get(target.operationId)
    if (made?.target === target) return made.middleware
    made?.cache?.close()
    const fresh = this.#make(target, resolveResilience(target))
    this.#made.set(target.operationId, fresh)
    return fresh.middleware
  }

  describe(target: PolicyTarget): readonly AppliedPolicy[] {
    return describeResilience(target)
  }

  forget(target: PolicyTarget): void {
    const made = this.#made.get(target.operationId)
    if (made?.target !== target) return
    made.cache?.close()
    this.#made.delete(target.operationId)
  }

  close(): void {
    for (const { cache } of this.#made.values()) cache?.close()
    this.#made.clear()
    this.#shared.close()
  }

  /** What the policies know at this moment. */
  state(): PolicyState {
    return {
      breakers: [...this.#breakers.values()].map((breaker) => ({
        name: breaker.name,
        state: breaker.state,
        probing: breaker.probing,
        retryAfterMs: breaker.retryAfter(),
        lastCode: breaker.lastCode,
      })),
      budgets: [...this.#budgets].map(([source, { left, denied }]) => ({ source, left, denied })),
      operations: [...this.#made.values()].map(({ target, cache, slots, rateLimit }) => ({
        operationId: target.operationId,
        ...(cache && { cache: { ...cache.counts, entries: cache.size, bytes: cache.bytes } }),
        ...(slots && { concurrency: { running: slots.running, waiting: slots.waiting } }),
        ...(rateLimit && { rateLimit: { refused: rateLimit.refused } }),
      })),
    }
  }

  /** Drops the cached results of operations. */
  invalidate(matchers: readonly Matcher[]): void {
    for (const [id, { cache }] of this.#made) {
      if (cache !== undefined && matchers.some((matches) => matches(id))) cache.clear()
    }
  }

  #make(target: PolicyTarget, resolved: ResolvedResilience): Made {
    const { clock } = this.#host
    const { retry, breaker, rateLimit, concurrency, hedge, timeout, cache } = resolved
    const budget = getOrMake(
      this.#budgets,
      target.source,
      () => new RetryBudget(MAX_RETRIES, { tricklesWhenEmpty: false }),
    )
    const slots = concurrency && new Slots(concurrency, clock)
    const limit = rateLimit && this.#rateLimit(target, rateLimit)
    const attempts = new Attempts({
      ...{ retry, budget, clock, slots, rateLimit: limit, random: this.#random },
      hedge: hedge && new Hedge(hedge, budget, clock),
      breaker: breaker && this.#breaker(target, breaker),
      timeout: timeout?.attempt,
    })
    if (Object.keys(resolved).length === 0) return none(target)
    if (target.isStream) {
      const stream: Middleware["stream"] = (call, next) => new PolicyStream(attempts, call, next)
      return { ...none(target), middleware: { stream }, slots, rateLimit: limit }
    }
    const made =
      cache && new Cache(cache, { clock, pool: this.#pool, shared: this.#shared }, attempts.call)
    const call = this.#around(resolved, made?.call ?? attempts.call)
    return { target, middleware: { call }, cache: made, slots, rateLimit: limit }
  }

  /** What is further out than the cache. */
  #around(resolved: ResolvedResilience, inner: MiddlewareFunction): MiddlewareFunction {
    const { idempotency, fallback, invalidates } = resolved
    let run = inner
    if (idempotency !== undefined) {
      const host = { clock: this.#host.clock, shared: this.#shared }
      run = new Idempotency(idempotency, host, run).call
    }
    if (invalidates !== undefined) run = this.#invalidating(invalidates, run)
    return fallback === undefined ? run : withFallback(fallback, run)
  }

  #invalidating(patterns: readonly string[], run: MiddlewareFunction): MiddlewareFunction {
    const matchers = patterns.map(compilePattern)
    return async (call, next) => {
      const envelope = await run(call, next)
      this.invalidate(matchers)
      return envelope
    }
  }

  /** Operations of a source with the same settings have one breaker, unless it is for the operation alone. */
  #breaker(target: PolicyTarget, policy: NonNullable<ResolvedResilience["breaker"]>): Breaker {
    const name = nameOf(target, policy.scope)
    const key = `${name} ${JSON.stringify(policy)}`
    return getOrMake(this.#breakers, key, () => new Breaker(policy, name, this.#host.clock))
  }

  #rateLimit(
    target: PolicyTarget,
    policy: NonNullable<ResolvedResilience["rateLimit"]>,
  ): RateLimit {
    const name = nameOf(target, "source")
    const make = (): RateLimit => new RateLimit(policy, name, this.#host.clock)
    // A function or a limiter has no text to compare.
    if (typeof policy.per === "function" || policy.limiter !== undefined) return make()
    return getOrMake(this.#rateLimits, `${name} ${JSON.stringify(policy)}`, make)
  }
}

/** What is protected: another system with all its operations, or one operation. */
function nameOf({ isImported, source, operationId }: PolicyTarget, scope = "source"): string {
  return isImported && scope === "source" ? `source "${source}"` : `"${operationId}"`
}

function none(target: PolicyTarget): Made {
  return { target, middleware: undefined, cache: undefined, slots: undefined, rateLimit: undefined }
}

function getOrMake<TValue>(map: Map<string, TValue>, key: string, make: () => TValue): TValue {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
