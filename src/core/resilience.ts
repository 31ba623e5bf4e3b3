// The options of policies, their validation, and the interface between policies and the engine.
import type { CallError } from "./errors.ts"
import type { ResponseEnvelope } from "./envelope.ts"
import type { Middleware, MiddlewareCall } from "./middleware.ts"
import type { AppliedPolicy, PolicyState } from "./policy-state.ts"
import type { OperationSpec } from "./types.ts"
import type { Logger } from "../internal/logger.ts"
import { findOptionIssue } from "../internal/option-issues.ts"
import type { OptionRule, OptionsSchema } from "../internal/options.ts"
import type { Clock } from "../internal/platform.ts"

/** A value, or a promise of it. */
type Awaitable<TValue> = TValue | Promise<TValue>

/** Limits the time of each attempt; the deadline of the call still applies. */
export interface TimeoutPolicy {
  /** Milliseconds until an attempt ends with `TIMEOUT`. For a stream: until its first item. */
  readonly attempt: number
}

/** Repeats calls that failed with an error that is `retryable`. */
export interface RetryPolicy {
  /** Maximum number of attempts, including the first; 3. */
  readonly attempts?: number | undefined
  /** The wait before attempt n + 1 is random, between 0 and `delay` · 2ⁿ⁻¹ milliseconds; 100. */
  readonly delay?: number | undefined
  /** Upper limit of a wait in milliseconds; 5,000. */
  readonly maxDelay?: number | undefined
  /** If a server requests a longer wait than this, the call is not repeated; 30,000 milliseconds. */
  readonly maxRetryAfter?: number | undefined
}

/** Stops calls to a system that keeps failing: they end with `CIRCUIT_OPEN` until it has recovered. */
export interface BreakerPolicy {
  /** The share of failures, from 0 to 1, at which the circuit opens; 0.5. */
  readonly failureRate?: number | undefined
  /** Minimum number of outcomes in the window before it can open; 20. */
  readonly minimumCalls?: number | undefined
  /** How long outcomes count, in milliseconds; 10,000. */
  readonly windowMs?: number | undefined
  /** How long the circuit stays open before the first probe, in milliseconds; 5,000. Doubled after each probe that fails, up to ten times. */
  readonly openMs?: number | undefined
  /** How many probes may run at the same time; 1. */
  readonly probes?: number | undefined
  /** What the circuit protects: the whole source (the default), or only this operation. */
  readonly scope?: "source" | "operation" | undefined
}

/** Limits how many handlers run at the same time; further calls wait in turn, or end with `OVERLOADED`. */
export interface ConcurrencyPolicy {
  /** How many may run, including those whose calls have ended. */
  readonly max: number
  /** How many may wait; 0. */
  readonly maxQueue?: number | undefined
  /** How long one may wait, in milliseconds; until its deadline by default. */
  readonly maxWaitMs?: number | undefined
}

/** Decides outside of this process whether a call may start; `createRedisLimiter` creates one. */
export interface RateLimiter {
  /** Takes a token for a key. Returns the milliseconds until there is one; 0 if it was taken. */
  take(
    key: string,
    limit: { readonly perSecond: number; readonly burst: number },
    options: { readonly signal: AbortSignal },
  ): Awaitable<number>
}

/** Limits how many calls start per second; others end with `RATE_LIMITED`. */
export interface RateLimitPolicy {
  readonly perSecond: number
  /** How many may start at once after a pause; `perSecond` by default, and at least 1. */
  readonly burst?: number | undefined
  /**
   * Which calls are counted together: all of the registry (the default), those of each identity, or of each
   * key. A rule counts the calls of all operations that it matches, those of each imported source separately; a
   * definition counts its own.
   */
  readonly per?: "registry" | "identity" | ((call: MiddlewareCall) => string) | undefined
  /** How long a call may wait for its turn, in milliseconds; 0. */
  readonly maxWaitMs?: number | undefined
  /** Shares the count among several processes. */
  readonly limiter?: RateLimiter | undefined
}

/** Answers from memory, and runs the same calls at the same time only once. */
export interface CachePolicy {
  /** How long a result is fresh, in milliseconds. */
  readonly ttl: number
  /** How long after that it is still returned, while it is loaded again; 0. */
  readonly stale?: number | undefined
  /** How long after `ttl` it is returned if loading fails; 0. */
  readonly staleIfError?: number | undefined
  /**
   * Who shares results: callers with the same identity and the same values of middleware (the default), all
   * callers, or callers with the same key.
   */
  readonly vary?: "identity" | "none" | ((call: MiddlewareCall) => string) | undefined
  /** How many results are kept; 1,000. */
  readonly max?: number | undefined
  /** Let the `cache-control` of a response set the times; otherwise it can only shorten them. */
  readonly respectCacheControl?: boolean | undefined
}

/** Starts another attempt when the first one takes long; the first success counts. Only where repeating has no effect. */
export interface HedgePolicy {
  /** Milliseconds, or the time in which 95 % of the last calls had ended; `"p95"` by default. */
  readonly after?: number | "p95" | undefined
  /** How many further attempts; 1. */
  readonly max?: number | undefined
}

/** Stores the outcomes of calls with a key; `createRedisIdempotencyStore` creates one for several processes. */
export interface IdempotencyStore {
  /**
   * Stores a value for a key that has none, in one step. Returns `undefined` if it was stored, and the existing
   * value otherwise. No two values are equal.
   */
  begin(key: string, value: string, ttl: number): Awaitable<string | undefined>
  /** Replaces the value of a key. May return `false` if it was no longer that of `begin`. */
  finish(key: string, value: string, ttl: number): Awaitable<boolean | void>
  /** Removes a key, because the call had no final outcome. */
  forget(key: string): Awaitable<void>
}

/** Runs a call with an `idempotencyKey` once: the same key gets the same outcome. */
export interface IdempotencyPolicy {
  /** How long outcomes are kept, in milliseconds from the end of the call; a day. */
  readonly ttl?: number | undefined
  /** Where they are kept; in memory by default. */
  readonly store?: IdempotencyStore | undefined
}

/** What a failed call returns instead: data, or an envelope. */
export type Fallback = (error: CallError, call: MiddlewareCall) => Awaitable<unknown>

/**
 * What happens when a call fails, is slow or is made too often. Everything is off unless it is set; `false`
 * switches off what a more general setting enables.
 *
 * The order is fixed, outermost first: fallback, idempotency, cache, retry, hedge, breaker, rate limit, concurrency,
 * timeout of the attempt, handler.
 */
export interface Resilience {
  readonly timeout?: TimeoutPolicy | false | undefined
  readonly retry?: RetryPolicy | false | undefined
  readonly breaker?: BreakerPolicy | false | undefined
  readonly concurrency?: ConcurrencyPolicy | false | undefined
  readonly rateLimit?: RateLimitPolicy | false | undefined
  readonly cache?: CachePolicy | false | undefined
  readonly hedge?: HedgePolicy | false | undefined
  readonly fallback?: Fallback | false | undefined
  readonly idempotency?: IdempotencyPolicy | false | undefined
  /** Operations whose cached results are removed when this one had, or may have had, its effect: `["task.*"]`. */
  readonly invalidates?: readonly string[] | undefined
}

/** The policies of all operations that match; they take precedence over those of the definitions. */
export interface PolicyRule extends Resilience {
  /** Ids; `*` stands for any part: `"github.*"`. */
  readonly match: string | readonly string[]
  /** The preset, for what the rule does not set itself. */
  readonly standard?: boolean | undefined
}

const milliseconds: OptionRule = { min: 0 }

const TIMEOUT: OptionsSchema<TimeoutPolicy> = { attempt: { required: "duration" } }
const RETRY: OptionsSchema<RetryPolicy> = {
  attempts: { min: 1, max: 100, whole: true },
  delay: milliseconds,
  maxDelay: milliseconds,
  maxRetryAfter: milliseconds,
}
const BREAKER: OptionsSchema<BreakerPolicy> = {
  failureRate: { min: 0.01, max: 1 },
  minimumCalls: "count",
  windowMs: "duration",
  openMs: "duration",
  probes: "count",
  scope: { oneOf: ["source", "operation"] },
}
const CONCURRENCY: OptionsSchema<ConcurrencyPolicy> = {
  max: { required: "count" },
  maxQueue: { min: 0, whole: true },
  maxWaitMs: milliseconds,
}
const RATE_LIMIT: OptionsSchema<RateLimitPolicy> = {
  perSecond: { required: { min: 0.000_001 } },
  burst: "count",
  per: { either: [{ oneOf: ["registry", "identity"] }, "function"] },
  maxWaitMs: milliseconds,
  limiter: { methods: ["take"], expected: "a limiter with take()" },
}
const CACHE: OptionsSchema<CachePolicy> = {
  ttl: { required: milliseconds },
  stale: milliseconds,
  staleIfError: milliseconds,
  vary: { either: [{ oneOf: ["identity", "none"] }, "function"] },
  max: "count",
  respectCacheControl: "boolean",
}
const HEDGE: OptionsSchema<HedgePolicy> = {
  after: { either: ["duration", { oneOf: ["p95"] }] },
  max: { min: 1, max: 10, whole: true },
}
const IDEMPOTENCY: OptionsSchema<IdempotencyPolicy> = {
  ttl: "duration",
  store: { methods: ["begin", "finish", "forget"], expected: "a store of outcomes" },
}

const RESILIENCE: OptionsSchema<Resilience> = {
  timeout: /* @__PURE__ */ orOff({ members: TIMEOUT }),
  retry: /* @__PURE__ */ orOff({ members: RETRY }),
  breaker: /* @__PURE__ */ orOff({ members: BREAKER }),
  concurrency: /* @__PURE__ */ orOff({ members: CONCURRENCY }),
  rateLimit: /* @__PURE__ */ orOff({ members: RATE_LIMIT }),
  cache: /* @__PURE__ */ orOff({ members: CACHE }),
  hedge: /* @__PURE__ */ orOff({ members: HEDGE }),
  fallback: /* @__PURE__ */ orOff("function"),
  idempotency: /* @__PURE__ */ orOff({ members: IDEMPOTENCY }),
  invalidates: { list: "text" },
}

export const RESILIENCE_OR_PRESET: OptionRule = {
  either: [{ oneOf: ["standard"] }, { members: RESILIENCE }],
}

// Not a spread, which may run getters, so that bundlers would keep it even if it is unused.
export const POLICY_RULE: OptionsSchema<PolicyRule> = /* @__PURE__ */ Object.assign(
  { match: { required: { either: ["text", { list: "text" }] } }, standard: "boolean" } as const,
  RESILIENCE,
)

function orOff(rule: OptionRule): OptionRule {
  return { either: [rule, { oneOf: [false] }] }
}

/** Why an operation cannot have these policies; `undefined` if it can. */
export function resilienceIssue(
  resilience: unknown,
  { type, annotations }: Partial<Pick<OperationSpec, "type" | "annotations">>,
): { readonly path: string; readonly message: string } | undefined {
  const issue = findOptionIssue(resilience, RESILIENCE_OR_PRESET)
  if (issue !== undefined) return issue
  const isRepeatable = annotations?.idempotent ?? type !== "mutation"
  for (const name of type === "subscription" ? ONE_RESULT : isRepeatable ? [] : REPEATS) {
    if (!isSet(resilience, name)) continue
    return {
      path: `/${name}`,
      message:
        type === "subscription"
          ? "is for operations with one result, and this one is a subscription"
          : `is for operations that can be repeated; set annotations: { idempotent: true } if this one can`,
    }
  }
  return undefined
}

const ONE_RESULT = ["cache", "hedge", "fallback", "idempotency"] as const
const REPEATS = ["cache", "hedge"] as const

function isSet(resilience: unknown, name: keyof Resilience): boolean {
  const value = typeof resilience === "object" && (resilience as Resilience)[name]
  return value !== undefined && value !== false
}

/** An operation with policies. State belongs to its id, so that a replacement keeps it. */
export interface PolicyTarget {
  readonly operationId: string
  /** Identifies the definition: a replacement has another object. */
  readonly record: object
  readonly spec: OperationSpec
  readonly isIdempotent: boolean
  readonly isStream: boolean
  /** The handler forwards calls to another system. */
  readonly isImported: boolean
  /** Milliseconds of a call whose caller sets no limit. */
  readonly timeout: number
  /** Checks a result like that of the handler. Throws if it must match the schema of the operation, and does not. */
  readonly toEnvelope: (result: unknown) => ResponseEnvelope
  /** The name of the source whose operations share a breaker and a retry budget. */
  readonly source: string
  /** The validated settings, most important first: for each policy, the first one that sets it counts. */
  readonly layers: readonly PolicyLayer[]
}

/** Settings from one place. */
export interface PolicyLayer {
  /** Names the place for people. */
  readonly from: string
  /** What operations with these settings have in common; `undefined` for a definition. */
  readonly rule?: string | undefined
  readonly settings: Resilience | "standard"
}

/** The part of a registry that policies use. */
export interface PolicyHost {
  readonly clock: Clock
  readonly logger: Logger
}

/** The policies of one registry, with their state. */
export interface Policies {
  /** The middleware for an operation; `undefined` if nothing applies. */
  for(target: PolicyTarget): Middleware | undefined
  /** The policies that apply to an operation. */
  describe(target: PolicyTarget): readonly AppliedPolicy[]
  /** Whether a call gets the outcome of another with its idempotency key, and so has no effect of its own. */
  repeats(call: MiddlewareCall): boolean
  /** The current state of the policies. */
  state(): PolicyState
  /** Forgets an operation that was removed, but neither its idempotency keys nor the calls that still run. */
  forget(operationId: string): void
  /** Applies other settings. What they do not change keeps its state. */
  update(targetOf: (target: PolicyTarget) => PolicyTarget | undefined): void
  /** Ends background work, and forgets everything. */
  close(): void
}
