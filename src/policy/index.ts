// The policies of a registry: what happens when a call fails, is slow or is made too often.
import { abandonedBy } from "../core/abandoned.ts"
import { isCallError } from "../core/errors.ts"
import type { Middleware, MiddlewareFunction } from "../core/middleware.ts"
import type { AppliedPolicy, BreakerStatus, PolicyState, Protected } from "../core/policy-state.ts"
import type { Policies, PolicyHost, PolicyTarget } from "../core/resilience.ts"
import { compilePattern } from "../internal/pattern.ts"
import type { Matcher } from "../internal/pattern.ts"
import { RetryBudget } from "../internal/retry-budget.ts"
import { Attempts } from "./attempts.ts"
import type { AttemptPolicies } from "./attempts.ts"
import { Breaker } from "./breaker.ts"
import { Cache } from "./cache.ts"
import { CachePool } from "./cache-store.ts"
import { referenceKey } from "./caller-key.ts"
import { withFallback } from "./fallback.ts"
import { Hedge } from "./hedge.ts"
import { Idempotency } from "./idempotency.ts"
import { RateLimit } from "./rate-limit.ts"
import { describeResilience, resolveResilience } from "./resolve.ts"
import type { ResolvedResilience } from "./resolve.ts"
import { SharedCalls } from "./shared-call.ts"
import { Slots } from "./concurrency.ts"
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

/** The middleware of one operation, and its parts. */
interface Made {
  readonly target: PolicyTarget
  readonly middleware?: Middleware
  readonly cache?: Cache | undefined
  readonly policies?: AttemptPolicies
}

/** The policies of one registry, with the state that calls share. */
export class RegistryPolicies implements Policies {
  readonly #host: PolicyHost
  readonly #random: () => number
  readonly #made = new Map<string, Made>()
  readonly #budgets = new Map<string, RetryBudget>()
  /** Breakers of sources; the breaker of a single operation is stored with the operation. */
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

  reset(): void {
    for (const { cache } of this.#made.values()) cache?.close()
    for (const map of [this.#made, this.#breakers, this.#budgets, this.#rateLimits]) map.clear()
  }

  close(): void {
    this.reset()
    this.#shared.close()
  }

  /** The current state of the policies. */
  state(): PolicyState {
    const breakers = new Map<Breaker, BreakerStatus>()
    const statusOf = (breaker: Breaker): BreakerStatus =>
      getOrMake(breakers, breaker, () => breaker.status)
    for (const breaker of this.#breakers.values()) statusOf(breaker)
    const operations = [...this.#made.values()].map(({ target, cache, policies }) => {
      const own: Partial<AttemptPolicies> = policies ?? {}
      const { breaker, retry, hedge, budget, slots, rateLimit } = own
      const hasRetries = retry !== undefined || hedge !== undefined
      return {
        operationId: target.operationId,
        ...(breaker && { breaker: statusOf(breaker) }),
        ...(hasRetries && budget && { retry: { left: budget.left, denied: budget.denied } }),
        ...(cache && { cache: { ...cache.counts, entries: cache.size, bytes: cache.bytes } }),
        ...(slots && { concurrency: slots.status }),
        ...(rateLimit && { rateLimit: { refused: rateLimit.refused } }),
      }
    })
    return {
      breakers: [...breakers.values()],
      budgets: [...this.#budgets].map(([source, { left, denied }]) => ({ source, left, denied })),
      operations,
    }
  }

  /** Drops the cached results of operations. */
  invalidate(matchers: readonly Matcher[]): void {
    for (const [id, { cache }] of this.#made) {
      if (cache !== undefined && matchers.some((matches) => matches(id))) cache.clear()
    }
  }

  #make(target: PolicyTarget, resolved: ResolvedResilience): Made {
    if (Object.keys(resolved).length === 0) return { target }
    const { clock } = this.#host
    const { retry, breaker, rateLimit, concurrency, hedge, timeout, cache } = resolved
    const budget = getOrMake(
      this.#budgets,
      target.source,
      () => new RetryBudget(MAX_RETRIES, { tricklesWhenEmpty: false }),
    )
    const policies: AttemptPolicies = {
      ...{ retry, budget, clock, random: this.#random },
      hedge: hedge && new Hedge(hedge, budget, clock),
      breaker: breaker && this.#breaker(target, breaker),
      rateLimit: rateLimit && this.#rateLimit(target, rateLimit),
      slots: concurrency && new Slots(concurrency, clock),
      timeout: timeout?.attempt,
      limit: target.timeout,
    }
    const attempts = new Attempts(policies)
    if (target.isStream) {
      const stream: Middleware["stream"] = (call, next) => new PolicyStream(attempts, call, next)
      return { target, middleware: { stream }, policies }
    }
    const made =
      cache && new Cache(cache, { clock, pool: this.#pool, shared: this.#shared }, attempts.call)
    const call = this.#around(target, resolved, made?.call ?? attempts.call)
    return { target, middleware: { call }, cache: made, policies }
  }

  /** Wraps the policies that are outside of the cache. */
  #around(
    { toEnvelope }: PolicyTarget,
    resolved: ResolvedResilience,
    inner: MiddlewareFunction,
  ): MiddlewareFunction {
    const { idempotency, fallback, invalidates } = resolved
    let run = inner
    if (idempotency !== undefined) {
      const host = { clock: this.#host.clock, shared: this.#shared }
      run = new Idempotency(idempotency, host, run).call
    }
    if (invalidates !== undefined) run = this.#invalidating(invalidates, run)
    return fallback === undefined ? run : withFallback(fallback, toEnvelope, run)
  }

  /** Removes cached results after each attempt that may have had an effect, and when an abandoned handler ends. */
  #invalidating(patterns: readonly string[], run: MiddlewareFunction): MiddlewareFunction {
    const matchers = patterns.map(compilePattern)
    const invalidate = (): void => this.invalidate(matchers)
    const failed = (thrown: unknown): void => {
      if (isCallError(thrown) && !thrown.mayHaveExecuted) return
      invalidate()
      abandonedBy(thrown)?.then(invalidate, invalidate)
    }
    return (call, next) =>
      run(call, (change) => {
        const outcome = next(change)
        outcome.then(invalidate, failed)
        return outcome
      })
  }

  /** Operations of a source with the same settings share a breaker, unless its scope is the operation. */
  #breaker(target: PolicyTarget, policy: NonNullable<ResolvedResilience["breaker"]>): Breaker {
    const protects = protectedBy(target, policy.scope)
    const make = (): Breaker => new Breaker(policy, protects, this.#host.clock)
    if (protects.operationId !== undefined) return make()
    return getOrMake(this.#breakers, `${protects.name} ${JSON.stringify(policy)}`, make)
  }

  /** Operations share the limit of a rule; imported ones that of their source. */
  #rateLimit(
    target: PolicyTarget,
    policy: NonNullable<ResolvedResilience["rateLimit"]>,
  ): RateLimit {
    const { per, limiter, ...rest } = policy
    const rule = target.layers.find(
      ({ settings }) => settings !== "standard" && settings.rateLimit === policy,
    )?.rule
    const name = (target.isImported ? undefined : rule) ?? protectedBy(target).name
    const key = [name, JSON.stringify(rest), referenceKey(per), referenceKey(limiter)].join(" ")
    return getOrMake(this.#rateLimits, key, () => new RateLimit(policy, name, this.#host.clock))
  }
}

/** What is protected: another system with all its operations, or one operation. */
function protectedBy(
  { isImported, source, operationId }: PolicyTarget,
  scope = "source",
): Protected {
  return isImported && scope === "source"
    ? { name: `source "${source}"`, source }
    : { name: `"${operationId}"`, source, operationId }
}

function getOrMake<TKey, TValue>(map: Map<TKey, TValue>, key: TKey, make: () => TValue): TValue {
  const existing = map.get(key)
  if (existing !== undefined) return existing
  const made = make()
  map.set(key, made)
  return made
}
