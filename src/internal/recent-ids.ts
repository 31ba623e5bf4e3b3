const MAX_IDS = 10_000

/**
 * Recently seen ids of requests, which may arrive twice.
 *
 * Two generations bound the memory: when the newer one is full, the older one is dropped.
 */
export class RecentIds {
  #newer = new Set<string>()
  #older = new Set<string>()

  has(id: string): boolean {
    return this.#newer.has(id) || this.#older.has(id)
  }

  /** Remembers an id; returns whether it was new. */
  remember(id: string): boolean {
    if (this.#newer.has(id)) return false
    if (this.#newer.size >= MAX_IDS) {
      this.#older = this.#newer
      this.#newer = new Set()
    }
    this.#newer.add(id)
    return !this.#older.has(id)
  }
}
