// The policies of a registry: what happens when a call fails, is slow or is made too often.
import { abandonedBy } from "../core/error-marks.ts"
import { isCallError } from "../core/errors.ts"
import type { Middleware, MiddlewareCall, MiddlewareFunction } from "../core/middleware.ts"
import type { AppliedPolicy, BreakerStatus, PolicyState, Protected } from "../core/policy-state.ts"
import type { Fallback, Policies, PolicyHost, PolicyTarget } from "../core/resilience.ts"
import { compilePattern, type Matcher } from "../internal/pattern.ts"
import { RetryBudget } from "../internal/retry-budget.ts"
import { sameData } from "../internal/same-data.ts"
import { Attempts, type AttemptPolicies } from "./attempts.ts"
import { Breaker } from "./breaker.ts"
import { Cache } from "./cache.ts"
import { CachePool } from "./cache-store.ts"
import { referenceKey } from "./caller-key.ts"
import { Hedge } from "./hedge.ts"
import { Idempotency, storedKey } from "./idempotency.ts"
import { KnownKeys } from "./known-keys.ts"
import { RateLimit } from "./rate-limit.ts"
import { describeResilience, resolveResilience, type ResolvedResilience } from "./resolve.ts"
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
  readonly resolved: ResolvedResilience
  readonly middleware?: Middleware
  readonly cache?: Cache | undefined
  /** What the cache runs; it changes if the cache stays and other policies change. */
  readonly inner?: { run: MiddlewareFunction } | undefined
  readonly policies?: AttemptPolicies
}

/** The policies of one registry, with the state that calls share. */
export class RegistryPolicies implements Policies {
  readonly #host: PolicyHost
  readonly #random: () => number
  readonly #made = new Map<string, Made>()
  /** Removed operations whose calls still run: they may be registered again. */
  readonly #removed = new Map<string, Made>()
  readonly #budgets = new Map<string, RetryBudget>()
  /** Breakers of sources; the breaker of a single operation is stored with the operation. */
  readonly #breakers = new Map<string, Breaker>()
  readonly #rateLimits = new Map<string, RateLimit>()
  readonly #pool = new CachePool()
  readonly #keys: KnownKeys
  readonly #shared: SharedCalls

  constructor(host: PolicyHost, random: () => number) {
    this.#host = host
    this.#random = random
    this.#shared = new SharedCalls(host.clock)
    this.#keys = new KnownKeys(host.clock)
  }

  for(target: PolicyTarget): Middleware | undefined {
    const id = target.operationId
    const before = this.#made.get(id) ?? this.#removed.get(id)
    if (before?.target === target) return before.middleware
    const fresh = this.#make(target, resolveResilience(target), before)
    if (before?.cache !== fresh.cache) before?.cache?.close()
    this.#removed.delete(id)
    this.#made.set(id, fresh)
    return fresh.middleware
  }

  describe(target: PolicyTarget): readonly AppliedPolicy[] {
    return describeResilience(target)
  }

  repeats(call: MiddlewareCall): boolean {
    const { idempotencyKey, identity, operationId } = call
    if (idempotencyKey === undefined) return false
    if (this.#made.get(operationId)?.resolved.idempotency === undefined) return false
    return this.#keys.get(identity?.id ?? "", storedKey(call, idempotencyKey)) !== undefined
  }

  forget(operationId: string): void {
    const made = this.#made.get(operationId)
    if (made === undefined) return
    made.cache?.close()
    this.#made.delete(operationId)
    this.#removed.set(operationId, { ...made, cache: undefined })
    for (const [id, { policies }] of this.#removed) {
      if ((policies?.slots?.status.running ?? 0) === 0) this.#removed.delete(id)
    }
  }

  update(targetOf: (target: PolicyTarget) => PolicyTarget | undefined): void {
    for (const [id, { target }] of this.#made) {
      const other = targetOf(target)
      if (other === undefined) this.forget(id)
      else this.for(other)
    }
    const made = [...this.#made.values()]
    const used = new Set<unknown>(
      made.flatMap((one) => [one.policies?.breaker, one.policies?.rateLimit]),
    )
    for (const map of [this.#breakers, this.#rateLimits]) {
      for (const [key, state] of map) if (!used.has(state)) map.delete(key)
    }
  }

  close(): void {
    for (const { cache } of this.#made.values()) cache?.close()
    for (const map of [this.#made, this.#removed, this.#breakers, this.#budgets, this.#rateLimits])
      map.clear()
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

  /** What an operation had before stays if its settings are the same; a cache only if the operation is, too. */
  #make(target: PolicyTarget, resolved: ResolvedResilience, before: Made | undefined): Made {
    if (Object.keys(resolved).length === 0) return { target, resolved }
    const { clock } = this.#host
    const { retry, breaker, rateLimit, concurrency, hedge, timeout, cache } = resolved
    const budget = getOrMake(
      this.#budgets,
      target.source,
      () => new RetryBudget(MAX_RETRIES, { tricklesWhenEmpty: false }),
    )
    const isSame = (name: keyof ResolvedResilience): boolean =>
      before !== undefined &&
      before.target.source === target.source &&
      before.target.isImported === target.isImported &&
      sameData(before.resolved[name], resolved[name])
    const old: Partial<AttemptPolicies> = before?.policies ?? {}
    const policies: AttemptPolicies = {
      ...{ retry, budget, clock, random: this.#random },
      hedge: isSame("hedge") ? old.hedge : hedge && new Hedge(hedge, budget, clock),
      breaker: isSame("breaker") ? old.breaker : breaker && this.#breaker(target, breaker),
      rateLimit: isSame("rateLimit")
        ? old.rateLimit
        : rateLimit && this.#rateLimit(target, rateLimit),
      slots: isSame("concurrency") ? old.slots : concurrency && new Slots(concurrency, clock),
      timeout: timeout?.attempt,
      limit: target.timeout,
    }
    const attempts = new Attempts(policies)
    if (target.isStream) {
      const stream: Middleware["stream"] = (call, next) => new PolicyStream(attempts, call, next)
      return { target, resolved, middleware: { stream }, policies }
    }
    const isKept = before?.target.record === target.record && isSame("cache")
    const inner = (isKept ? before.inner : undefined) ?? { run: attempts.call }
    inner.run = attempts.call
    const host = { clock, pool: this.#pool, shared: this.#shared }
    const made =
      (isKept ? before.cache : undefined) ??
      (cache && new Cache(cache, host, (call, next) => inner.run(call, next)))
    const call = this.#around(target, resolved, made?.call ?? attempts.call)
    return { target, resolved, middleware: { call }, cache: made, inner, policies }
  }

  /** Wraps the policies that are outside of the cache. */
  #around(
    { timeout, toEnvelope }: PolicyTarget,
    resolved: ResolvedResilience,
    inner: MiddlewareFunction,
  ): MiddlewareFunction {
    const { idempotency, fallback, invalidates } = resolved
    let run = inner
    if (idempotency !== undefined) {
      const [{ clock }, shared, keys] = [this.#host, this.#shared, this.#keys]
      const host = { clock, shared, keys, timeout, toEnvelope }
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

/** Codes without a fallback: mistakes of the caller, and calls that were aborted. */
const NO_FALLBACK: ReadonlySet<string> = new Set([
  "VALIDATION_ERROR",
  "ACCESS_DENIED",
  "UNAUTHENTICATED",
  "OPERATION_NOT_FOUND",
  "ABORTED",
])

/** Returns the fallback when everything else has failed. */
function withFallback(
  fallback: Fallback,
  toEnvelope: PolicyTarget["toEnvelope"],
  run: MiddlewareFunction,
): MiddlewareFunction {
  return async (call, next) => {
    try {
      return await run(call, next)
    } catch (thrown) {
      if (!isCallError(thrown) || NO_FALLBACK.has(thrown.code)) throw thrown
      const { data, meta } = toEnvelope(await fallback(thrown, call))
      return { data, meta: { ...meta, fallback: true } }
    }
  }
}
