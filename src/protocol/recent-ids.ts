const MOST = 10_000

/**
 * Ids that were seen not long ago, for links on which a request may arrive twice.
 *
 * Two generations: when the newer one is full the older one is let go, so that memory is bounded.
 */
export class RecentIds {
  #newer = new Set<string>()
  #older = new Set<string>()

  /** Whether the id is new; from then on it is not. */
  remember(id: string): boolean {
    if (this.#newer.has(id) || this.#older.has(id)) return false
    if (this.#newer.size >= MOST) {
      this.#older = this.#newer
      this.#newer = new Set()
    }
    this.#newer.add(id)
    return true
  }
}
