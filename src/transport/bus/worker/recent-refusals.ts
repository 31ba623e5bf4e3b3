const MOST = 10_000

/**
 * Requests that were refused not long ago, although they might have run at once.
 *
 * Should such a request arrive a second time, nobody waits for it any more, and its caller was told that it was
 * not run. Two generations: when the newer one is full the older one is let go, so that memory is bounded.
 */
export class RecentRefusals {
  #newer = new Set<string>()
  #older = new Set<string>()

  has(requestId: string): boolean {
    return this.#newer.has(requestId) || this.#older.has(requestId)
  }

  add(requestId: string): void {
    if (this.#newer.size >= MOST) {
      this.#older = this.#newer
      this.#newer = new Set()
    }
    this.#newer.add(requestId)
  }
}
