import { CancelToken } from "../internal/signals.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"

/**
 * A caller that receives the outcome of its call through methods instead of a promise.
 *
 * It is also the options of the call. The call protocol uses it, because promises would be a large part of the
 * cost of a small call.
 */
export abstract class CallSink extends CancelToken {
  /** The options are known to be valid, and are not checked again. */
  readonly isValidated: boolean = false

  abstract succeed(envelope: ResponseEnvelope): void
  abstract fail(thrown: unknown): void
}
