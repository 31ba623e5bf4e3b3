import type { Clock } from "./platform.ts"
import { setRef } from "./defer.ts"

/** Limits of a pool, and how it disposes of values. */
export interface IdlePoolOptions<TValue> {
  readonly clock: Clock
  /** Maximum number of values; the least recently used one is disposed of to make room. */
  readonly maxSize: number
  /** Milliseconds without use after which a value is disposed of. */
  readonly idle: number
  /** Whether a value is in use; it is not disposed of until it is idle. */
  readonly isBusy?: ((value: TValue) => boolean) | undefined
  readonly dispose: (value: TValue) => void
}

interface Entry<TValue> {
  readonly value: TValue
  timer: unknown
}

/** Values by key, made at the first request and disposed of when they are no longer used. */
export class IdlePool<TValue> {
  readonly #options: IdlePoolOptions<TValue>
  readonly #entries = new Map<string, Entry<TValue>>()

  constructor(options: IdlePoolOptions<TValue>) {
    this.#options = options
  }

  get(key: string, make: () => TValue): TValue {
    const existing = this.#entries.get(key)
    if (existing === undefined) this.#makeRoom()
    const entry = existing ?? { value: make(), timer: undefined }
    // Inserted again, so that the first entry is always the least recently used one.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    this.#wait(key, entry)
    return entry.value
  }

  *values(): Generator<TValue, void, undefined> {
    for (const { value } of this.#entries.values()) yield value
  }

  /** Removes and returns all values; the caller disposes of them. */
  clear(): TValue[] {
    const values = [...this.values()]
    for (const { timer } of this.#entries.values()) this.#options.clock.clearTimeout(timer)
    this.#entries.clear()
    return values
  }

  #wait(key: string, entry: Entry<TValue>): void {
    const { clock, idle } = this.#options
    clock.clearTimeout(entry.timer)
    entry.timer = clock.setTimeout(() => {
      if (!this.#drop(key, entry)) this.#wait(key, entry)
    }, idle)
    setRef(entry.timer, false)
  }

  #makeRoom(): void {
    if (this.#entries.size < this.#options.maxSize) return
    for (const [key, entry] of this.#entries) if (this.#drop(key, entry)) return
  }

  #drop(key: string, { value, timer }: Entry<TValue>): boolean {
    const { clock, isBusy, dispose: giveUp } = this.#options
    if (isBusy?.(value) === true) return false
    this.#entries.delete(key)
    clock.clearTimeout(timer)
    giveUp(value)
    return true
  }
}
