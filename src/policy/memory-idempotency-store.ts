import type { IdempotencyStore } from "../core/resilience.ts"
import type { Clock } from "../internal/platform.ts"

const MAX_KEYS = 10_000

/** Keeps outcomes in memory, for one process. If there are too many, the oldest is removed. */
export class MemoryOutcomes implements IdempotencyStore {
  readonly #clock: Clock
  readonly #kept = new Map<string, { readonly value: string; readonly until: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  begin(key: string, value: string, ttl: number): string | undefined {
    const kept = this.#kept.get(key)
    const now = this.#clock.now()
    if (kept !== undefined && kept.until > now) return kept.value
    this.finish(key, value, ttl)
    return undefined
  }

  finish(key: string, value: string, ttl: number): void {
    this.#kept.delete(key)
    this.#kept.set(key, { value, until: this.#clock.now() + ttl })
    if (this.#kept.size <= MAX_KEYS) return
    const oldest = this.#kept.keys().next().value
    if (oldest !== undefined) this.#kept.delete(oldest)
  }

  forget(key: string): void {
    this.#kept.delete(key)
  }
}
