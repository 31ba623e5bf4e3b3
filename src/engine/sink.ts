import { CancelToken } from "../internal/signals.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"

/**
 * A caller that is told what became of its call, instead of waiting for a promise.
 *
 * It is what the call was given as options too. For the call protocol: promises of its own would be a large
 * part of what a small call costs.
 */
export abstract class CallSink extends CancelToken {
  /** What it says about its call is known to be sound, and need not be read beforehand. */
  readonly isSound: boolean = false

  /** Its input was parsed from text or copied by the platform: reading it again gives the same. */
  get hasPlainInput(): boolean {
    return false
  }

  abstract succeed(envelope: ResponseEnvelope): void
  abstract fail(thrown: unknown): void
}
