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

/** What the policies of a registry know at a moment; for people and programs that look after it. */
export interface PolicyState {
  readonly breakers: readonly {
    /** What it protects: a source, or an operation. */
    readonly name: string
    readonly state: BreakerState
    /** Probes that run. */
    readonly probing: number
    /** Milliseconds until the next probe. */
    readonly retryAfterMs: number
    /** The code of the last failure. */
    readonly lastCode: string | undefined
  }[]
  readonly budgets: readonly {
    readonly source: string
    /** Retries that are left. */
    readonly left: number
    /** Retries that were not made for lack of them. */
    readonly denied: number
  }[]
  readonly operations: readonly OperationPolicyState[]
}

/** The same of one operation. */
export interface OperationPolicyState {
  readonly operationId: string
  readonly cache?: {
    readonly entries: number
    readonly bytes: number
    readonly hits: number
    /** Answers that were no longer fresh. */
    readonly stale: number
    /** Calls that waited for another one that was running. */
    readonly joined: number
    readonly misses: number
  }
  readonly concurrency?: { readonly running: number; readonly waiting: number }
  readonly rateLimit?: { readonly refused: number }
}
