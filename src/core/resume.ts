// Streams that were cut off continue after their last item, if their handler reads which one that was.

import { afterAttempts } from "./error-changes.ts"
import { type CallError, refusal } from "./errors.ts"

/** The metadata of a served stream, and a check for its first item. */
export interface WatchedResume {
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly check: (operationId: string) => void
}

/**
 * Watches whether a handler reads `lastEventId`. If it does not, and the caller only wants to resume (`resume: "only"`),
 * `check` throws `DATA_LOSS`: the stream starts from the beginning, and items would come twice.
 */
export function watchResume(metadata: WatchedResume["metadata"]): WatchedResume {
  if (metadata?.["resume"] !== "only") return { metadata, check: () => {} }
  const { lastEventId } = metadata
  let isRead = false
  return {
    metadata: {
      ...metadata,
      get lastEventId() {
        isRead = true
        return lastEventId
      },
    },
    check(operationId) {
      if (isRead) return
      const why = `"${operationId}" cannot be resumed: it starts from the beginning.`
      throw refusal("DATA_LOSS", why, { operationId, retryable: false })
    },
  }
}

/** The failures of a stream of which items have come. */
export class Resumption {
  /** Failures since the last item. */
  failures = 0
  #lost: CallError | undefined
  #lostAt = 0
  #failedAt = 0

  /** An item came. */
  received(): void {
    this.failures = 0
    this.#lost = undefined
  }

  /** Returns the error that ends the stream, or `undefined` if it may be resumed: it was lost less than `resumeMs` ago. */
  fail(error: CallError, now: number, resumeMs: number): CallError | undefined {
    // A server that cannot resume the stream says less than what went wrong before.
    if (this.#lost !== undefined && error.code === "DATA_LOSS") return this.#lost
    // A silent stream that was open for so long was resumed.
    if (this.failures++ === 0 || now - this.#failedAt > resumeMs) this.#lostAt = now
    this.#failedAt = now
    const isLoss = error.code === "UNAVAILABLE" || (this.#lost !== undefined && error.retryable)
    // Items came, whatever became of the last attempt.
    const ending = afterAttempts(error, { started: 1, hasEffects: true }, false)
    if (!isLoss || now + (error.retryAfterMs ?? 0) >= this.#lostAt + resumeMs) return ending
    this.#lost ??= ending
    return undefined
  }
}
