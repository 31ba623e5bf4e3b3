import { isRecord } from "../internal/guards.ts"

/** A policy of an operation, and where it was set. */
export interface AppliedPolicy {
  /** Its name: `retry`, `cache`, … */
  readonly policy: string
  /** `definition`, `pattern "task.*"` or `source "github"`. */
  readonly from: string
  /** As JSON; a function, a limiter or a store is `"custom"`. */
  readonly settings: unknown
}

export type BreakerState = "closed" | "open" | "half-open"

/** What a breaker or a limit protects. */
export interface Protected {
  /** For people: `source "github"`, or `"github.search"`. */
  readonly name: string
  readonly source: string
  /** The operation, if it is for this one alone. */
  readonly operationId?: string | undefined
}

/** The current state of a breaker. */
export interface BreakerStatus extends Protected {
  readonly state: BreakerState
  /** Probes that run. */
  readonly probing: number
  /** Milliseconds until the next probe. */
  readonly retryAfterMs: number
  /** The code of the last failure. */
  readonly lastCode: string | undefined
}

/** The current retry budget of a source. */
interface BudgetStatus {
  /** Remaining retries. */
  readonly left: number
  /** Retries that the budget denied. */
  readonly denied: number
}

/** The current state of a registry's policies, for monitoring. */
export interface PolicyState {
  readonly breakers: readonly BreakerStatus[]
  readonly budgets: readonly (BudgetStatus & { readonly source: string })[]
  readonly operations: readonly OperationPolicyState[]
}

/** The same for one operation; states of policies that it does not have are absent. */
export interface OperationPolicyState {
  readonly operationId: string
  /** The one that its calls go through; others may share it. */
  readonly breaker?: BreakerStatus
  /** The retries of its source. */
  readonly retry?: BudgetStatus
  readonly cache?: {
    readonly entries: number
    readonly bytes: number
    readonly hits: number
    /** Cached results that were no longer fresh. */
    readonly stale: number
    /** Calls that waited for another one that was running. */
    readonly joined: number
    readonly misses: number
  }
  readonly concurrency?: {
    readonly running: number
    readonly waiting: number
    /** Running handlers whose calls have ended. */
    readonly abandoned: number
  }
  readonly rateLimit?: { readonly refused: number }
}

/** Reads the policies in a response that describes an operation. */
export function readPolicies(value: unknown): readonly AppliedPolicy[] {
  const resilience = isRecord(value) ? value["resilience"] : undefined
  return Array.isArray(resilience) ? resilience.filter(isAppliedPolicy) : []
}

function isAppliedPolicy(value: unknown): value is AppliedPolicy {
  return isRecord(value) && typeof value["policy"] === "string" && typeof value["from"] === "string"
}

/** Settings without the braces of JSON: `attempts 3, delay 100`. */
export function settingsText(settings: unknown): string {
  if (Array.isArray(settings)) return settings.join(", ")
  if (!isRecord(settings)) return String(settings)
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(", ")
}
