/** The breaker opens when this many workers are lost within the window. */
const STRIKES = 3
const WINDOW_MS = 30_000
/** How long an operation is not called then, in milliseconds. */
const REST_MS = 10_000
/** Workers lost within this time count once: a single call cannot have crashed all of them. */
const SAME_TIME_MS = 1000

interface Record {
  /** When workers were lost, latest last. */
  strikes: number[]
  openUntil: number
}

/** A circuit breaker per operation: keeps one that crashes workers from crashing all of them, one after another. */
export class Breaker {
  readonly #records = new Map<string, Record>()

  /** Records that a worker was lost while it ran the operation. Returns whether the breaker is open now. */
  strike(operationHash: string, now: number): boolean {
    const record = this.#records.get(operationHash) ?? { strikes: [], openUntil: 0 }
    this.#records.set(operationHash, record)
    const recent = record.strikes.filter((at) => now - at < WINDOW_MS)
    const last = recent.at(-1)
    record.strikes = last !== undefined && now - last < SAME_TIME_MS ? recent : [...recent, now]
    if (record.strikes.length < STRIKES) return false
    record.strikes = []
    record.openUntil = now + REST_MS
    return true
  }

  /** Resets the breaker: a worker ran the operation and survived. */
  succeeded(operationHash: string): void {
    if (this.#records.size > 0) this.#records.delete(operationHash)
  }

  /** Milliseconds until the operation may be called again; mostly 0. */
  restOf(operationHash: string, now: number): number {
    if (this.#records.size === 0) return 0
    const record = this.#records.get(operationHash)
    if (record === undefined) return 0
    if (record.openUntil > now) return record.openUntil - now
    if (record.strikes.every((at) => now - at >= WINDOW_MS)) this.#records.delete(operationHash)
    return 0
  }
}
