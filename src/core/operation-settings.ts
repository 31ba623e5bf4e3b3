import type { Middleware, MiddlewareFunction } from "./middleware.ts"
import type { Resilience } from "./resilience.ts"
import type { InputMode, NormalizeMode, OutputMode } from "./types.ts"

/** Settings of an operation besides its spec; they never leave the process. */
export interface OperationPolicy {
  /**
   * Operations this one may call on the application's authority: `"audit.write"`, `"task.*"`.
   * All other nested calls are checked against the caller.
   */
  readonly composes?: readonly string[] | undefined
  readonly normalize?: NormalizeMode | undefined
  readonly output?: OutputMode | undefined
  /**
   * For an input that does not match its schema: fail the call (the default), or log it and run the handler, if the
   * called system decides what is valid.
   */
  readonly input?: InputMode | undefined
  /** Declared defaults of inputs are filled in; `leave` if the called system fills in its own. */
  readonly defaults?: "fill" | "leave" | undefined
  /**
   * Timeout in milliseconds for calls without a timeout, instead of the registry's default.
   * `Infinity` for no limit.
   */
  readonly timeout?: number | undefined
  /**
   * The operation runs elsewhere, and its description may be out of date. Unless `normalize` or the registry
   * sets a mode, results are normalized with `"keep"` instead of `"strip"`.
   */
  readonly imported?: boolean | undefined
  /** The annotations are claims of a source that is not trusted: they never make a rule of `approvals` laxer. */
  readonly claims?: boolean | undefined
  /** @internal The registries that an imported operation came through. They may change while it stays the same. */
  readonly via?: (() => readonly string[]) | undefined
  /**
   * Converts an input that does not match its schema to JSON data, if the handler also accepts values without
   * a JSON form, such as a `Date`. If the result matches, the handler gets the original input.
   */
  readonly asData?: ((input: unknown) => unknown) | undefined
  /**
   * The handler sends the `idempotencyKey` of a call to a system that runs a call with the same key once: with a key,
   * repeating a call has no further effect.
   */
  readonly sendsKey?: boolean | undefined
  /** Middleware of this operation, inside that of the registry; the first one is outermost. */
  readonly use?: readonly (Middleware | MiddlewareFunction)[] | undefined
  /** What happens when a call fails, is slow or is made too often; `"standard"` for common limits. */
  readonly resilience?: Resilience | "standard" | undefined
}
