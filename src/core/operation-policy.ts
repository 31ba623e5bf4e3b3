import type { Middleware, MiddlewareFunction } from "./middleware.ts"
import type { Resilience } from "./resilience.ts"
import type { NormalizeMode, OutputMode } from "./types.ts"

/** Settings of an operation besides its spec; they never leave the process. */
export interface OperationPolicy {
  /**
   * Operations this one may call on the application's authority: `"audit.write"`, `"task.*"`.
   * All other nested calls are checked against the caller.
   */
  readonly composes?: readonly string[] | undefined
  readonly normalize?: NormalizeMode | undefined
  readonly output?: OutputMode | undefined
  /** Declared defaults of inputs are filled in; `leave` if the called system fills in its own. */
  readonly defaults?: "fill" | "leave" | undefined
  /**
   * Timeout in milliseconds for calls without one of their own, instead of the registry's default.
   * `Infinity` for no limit.
   */
  readonly timeout?: number | undefined
  /**
   * The operation runs elsewhere, and its description may lag behind: where neither `normalize` nor
   * the registry says otherwise, results are normalised with `"keep"` instead of `"strip"`.
   */
  readonly imported?: boolean | undefined
  /**
   * What an input that does not match its schema is as JSON data, where the handler also takes values
   * that JSON has no form for, such as a `Date`. If that matches, the handler gets the input as it is.
   */
  readonly asData?: ((input: unknown) => unknown) | undefined
  /**
   * The handler sends the `idempotencyKey` of a call to a system that runs a call with the same key once: with a key,
   * repeating a call has no further effect.
   */
  readonly sendsKey?: boolean | undefined
  /** Middleware of this operation, inside that of the registry; the first one is outermost. */
  readonly use?: readonly (Middleware | MiddlewareFunction)[] | undefined
  /** What happens when a call fails, is slow or is made too often; `"standard"` for usual limits. */
  readonly resilience?: Resilience | "standard" | undefined
}
