/** So many workers have to go within this time. */
const STRIKES = 3
const WINDOW = 30_000
/** For so long an operation is left alone then. */
const REST = 10_000
/** Workers that go at the same time were not all brought down by one call after the other. */
const SAME_TIME = 1000

interface Record {
  /** When workers went, the latest last. */
  strikes: number[]
  openUntil: number
}

/** Keeps an operation that brings workers down from taking all of them, one after another. */
export class Breaker {
  readonly #records = new Map<string, Record>()

  /** A worker went while it ran this. Says whether the operation is left alone from now on. */
  strike(mark: string, now: number): boolean {
    const record = this.#records.get(mark) ?? { strikes: [], openUntil: 0 }
    this.#records.set(mark, record)
    const recent = record.strikes.filter((at) => now - at < WINDOW)
    const last = recent.at(-1)
    record.strikes = last !== undefined && now - last < SAME_TIME ? recent : [...recent, now]
    if (record.strikes.length < STRIKES) return false
    record.strikes = []
    record.openUntil = now + REST
    return true
  }

  /** A worker ran it and is still there: whatever brings workers down is something else. */
  succeeded(mark: string): void {
    if (this.#records.size > 0) this.#records.delete(mark)
  }

  /** Milliseconds for which an operation is still left alone; mostly 0. */
  restOf(mark: string, now: number): number {
    if (this.#records.size === 0) return 0
    const record = this.#records.get(mark)
    if (record === undefined) return 0
    if (record.openUntil > now) return record.openUntil - now
    if (record.strikes.every((at) => now - at >= WINDOW)) this.#records.delete(mark)
    return 0
  }
}
