import type { ResponseEnvelope } from "../core/envelope.ts"
import type { Revalidation } from "../core/middleware.ts"

/** A cached result, with times of the registry's clock. */
export interface CacheEntry {
  /** Frozen all the way down. */
  readonly envelope: ResponseEnvelope
  readonly size: number
  readonly storedAt: number
  readonly freshUntil: number
  readonly staleUntil: number
  readonly errorUntil: number
  readonly validators: Revalidation | undefined
}

/** Larger results are not kept. */
const MAX_ENTRY_BYTES = 1024 * 1024
const MAX_BYTES = 64 * 1024 * 1024

/** The memory that all caches of a registry share. */
export class CachePool {
  readonly #maxBytes: number
  readonly #stores = new Set<CacheStore>()
  bytes = 0

  constructor(maxBytes: number = MAX_BYTES) {
    this.#maxBytes = maxBytes
  }

  add(store: CacheStore): void {
    this.#stores.add(store)
  }

  delete(store: CacheStore): void {
    this.#stores.delete(store)
  }

  /** Removes the oldest results of the largest cache until the rest fits. */
  shrink(): void {
    while (this.bytes > this.#maxBytes) {
      let largest: CacheStore | undefined
      for (const store of this.#stores) {
        if (largest === undefined || store.bytes > largest.bytes) largest = store
      }
      if (largest?.dropOldest() !== true) return
    }
  }
}

/** The results of one operation; if there are too many, the least recently used one is removed. */
export class CacheStore {
  readonly #max: number
  readonly #pool: CachePool
  readonly #entries = new Map<string, CacheEntry>()
  bytes = 0

  constructor(max: number, pool: CachePool) {
    this.#max = max
    this.#pool = pool
    pool.add(this)
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): CacheEntry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || this.#entries.size === 1) return entry
    // The order of the map is that of the last use.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry
  }

  set(key: string, entry: CacheEntry): void {
    this.delete(key)
    if (entry.size + key.length * 2 > MAX_ENTRY_BYTES) return
    this.#entries.set(key, entry)
    this.#grow(entry.size + key.length * 2)
    if (this.#entries.size > this.#max) this.dropOldest()
    this.#pool.shrink()
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#grow(-entry.size - key.length * 2)
  }

  dropOldest(): boolean {
    const oldest = this.#entries.keys().next().value
    if (oldest === undefined) return false
    this.delete(oldest)
    return true
  }

  clear(): void {
    this.#entries.clear()
    this.#grow(-this.bytes)
  }

  /** Empties it and releases its memory. */
  close(): void {
    this.clear()
    this.#pool.delete(this)
  }

  #grow(bytes: number): void {
    this.bytes += bytes
    this.#pool.bytes += bytes
  }
}
