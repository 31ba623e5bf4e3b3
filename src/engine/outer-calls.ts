import type { OuterCall } from "../core/outer-call.ts"
import type { Identity } from "../core/types.ts"

const MAX_CALLS = 10_000

/**
 * Counts the calls that belong to outermost calls of other registries.
 *
 * The latest ones are remembered: such a call ends here whenever a part of it returns, and may come back.
 */
export class OuterCalls {
  readonly #counts = new Map<string, number>()

  /** Counts one more call; returns the count. Callers cannot use up the limit of each other. */
  count({ rootRequestId }: OuterCall, caller: Identity | undefined): number {
    const key = JSON.stringify([rootRequestId, caller?.id])
    const count = (this.#counts.get(key) ?? 0) + 1
    // The oldest one is first.
    this.#counts.delete(key)
    this.#counts.set(key, count)
    if (this.#counts.size > MAX_CALLS) this.#counts.delete(this.#counts.keys().next().value ?? "")
    return count
  }
}
